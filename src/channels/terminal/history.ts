import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Lines typed in earlier sessions, newest first. */
export type History = Readonly<{
  lines: readonly string[];
  /** Adds a line and stores it at once, in case the session is killed. */
  add(line: string): void;
}>;

export const mostLines = 500;

/**
 * Matches lines that are not kept: those that begin with a space, as in a shell, and those that may contain a secret.
 */
const unkept = /^\s|^[/!](?:settings|connect)\b/;

/**
 * Opens the history in a file that only its owner can read. If it can't be read or written, there is no history and no
 * error.
 */
export function openHistory(file: string): History {
  const known = linesOf(file);
  const lines = [...new Set(known.toReversed())].slice(0, mostLines);
  if (known.length > 2 * mostLines)
    quietly(() => writeFileSync(file, textOf(lines.toReversed()), { mode: 0o600 }));
  return {
    lines,
    add(line) {
      if (line.trim() === '' || unkept.test(line)) return;
      quietly(() => {
        mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
        appendFileSync(file, textOf([line]), { mode: 0o600 });
      });
    },
  };
}

/**
 * Path of the history for the person at this machine: `$XDG_STATE_HOME/skillet/history`. Undefined if there is no home
 * folder.
 */
export function historyFile(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { XDG_STATE_HOME: state, HOME: home } = env;
  const folder = state || (home ? path.join(home, '.local', 'state') : undefined);
  return folder === undefined ? undefined : path.join(folder, 'skillet', 'history');
}

function linesOf(file: string): readonly string[] {
  return quietly(() => readFileSync(file, 'utf8').split('\n').filter(Boolean)) ?? [];
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function quietly<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
