import type { Fixed, Say } from './texts/say.ts';

/** How people find a command of chats. The row stands beside the answer, in the feature that brings both. */
export type CommandRow = Readonly<
  (
    | {
        /** Its line in the menus of platforms. */
        menu: Fixed;
        about?: undefined;
      }
    | {
        /** What the reference says about a command that no menu lists. */
        about: string;
        menu?: undefined;
      }
  ) & {
    /** Its line in `/help`. `write` names a command as people type it in this chat. Undefined if there is no line. */
    help?(write: (name: string, args?: string) => string, say: Say): string;
    /** Set if in a group its answer is shown to its sender alone (U16). */
    alone?: true;
    /** Set if it is an everyday word, which counts as a command after a mention only with a slash. */
    onlyWithMark?: true;
  }
>;

/** The commands that one part of the bot brings, by their names. */
export type CommandRows = Readonly<Record<string, CommandRow>>;

/** All commands of chats. They win over skills of the same name (I3). */
export type CommandTable = Readonly<{
  /** All names, in the order of menus. */
  names: readonly string[];
  /** Undefined if there is no such command. */
  row(name: string): CommandRow | undefined;
}>;

/** Throws if two parts bring a command of the same name. */
export function commandTable(parts: readonly CommandRows[]): CommandTable {
  const rows = new Map<string, CommandRow>();
  for (const [name, row] of parts.flatMap((part) => Object.entries(part))) {
    if (rows.has(name)) throw new Error(`two parts of the bot bring the command ${name}`);
    rows.set(name, row);
  }
  return { names: [...rows.keys()], row: (name) => rows.get(name) };
}
