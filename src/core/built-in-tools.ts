import type { Fixed } from './texts/say.ts';
import type { Writes } from './tool-writes.ts';
import type { Risk } from './tool.ts';

/** How a list decides about a tool: `kept` always, `default` unless it leaves it out, `named` only if named. */
type Offer = 'kept' | 'default' | 'named';

/** How people see a built-in tool, and who is offered it. The row stands in the file that makes the tool. */
export type ToolRow = Readonly<{
  icon: string;
  title: Fixed;
  /** What `/tools` says that it does. */
  says: Fixed;
  /** What people read while it runs (U13). */
  doing: Fixed;
  /** `sandbox` means the risk that commands have there (T7). */
  risk: Risk | 'sandbox';
  /** Whether the main agent gets it, by `[agent] tools` (T2) and active skills (T6). Undefined: never. */
  main?: Offer;
  /** Whether runs get it, by the skill's `allowed_tools` (T5). Undefined: never. */
  runs?: Offer;
  /** The main agent also gets it while it follows an inline skill whose list names it (U8). */
  inline?: true;
  /** True if it is of no use to a person who may use no skill. */
  ofSkills?: true;
  /** True if `/tools` leaves it out. */
  inner?: true;
  writes: Writes;
  /** True if the effect outlives the conversation. Then whose words it is and its taint are kept with it (S13). */
  lasts?: true;
}>;

/** The tools that one part of the bot brings, by their names. */
export type ToolRows = Readonly<Record<string, ToolRow>>;

/** All built-in tools, of the bot itself and of its features. */
export type ToolTable = Readonly<{
  /** Undefined if no built-in tool is called that. */
  row(name: string): ToolRow | undefined;
  /** Names of the tools whose row is such, in the order of `/tools`. Without a condition: all names. */
  names(isSuch?: (row: ToolRow) => boolean): readonly string[];
}>;

/** Throws if two parts bring a tool of the same name. */
export function toolTable(parts: readonly ToolRows[]): ToolTable {
  const rows = new Map<string, ToolRow>();
  for (const [name, row] of parts.flatMap((part) => Object.entries(part))) {
    if (rows.has(name)) throw new Error(`two parts of the bot bring the tool ${name}`);
    rows.set(name, row);
  }
  return {
    row: (name) => rows.get(name),
    names: (isSuch = () => true) => [...rows].flatMap(([name, row]) => (isSuch(row) ? [name] : [])),
  };
}
