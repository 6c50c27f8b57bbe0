import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Lines typed in sessions before, the newest first. */
export type History = Readonly<{
  lines: readonly string[];
  /** Kept at once, for a session that is killed. */
  add(line: string): void;
}>;

export const mostLines = 500;

/** As in a shell, what begins with a space is not kept; and what may hold a secret is not. */
const unkept = /^\s|^[/!](?:settings|connect)\b/;

/** Of a file of lines that only its owner reads. What can't be read or written is no history: nobody waits for it. */
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

/** Of the person at this machine: `$XDG_STATE_HOME/skillet/history`. */
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
