import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** One file by its path from the root. */
export type SourceFile = Readonly<{ path: string; text: string }>;

/** An import of one room by another, with how many files of the first do it. */
export type Edge = Readonly<{ from: string; to: string; count: number }>;

/** All files below these folders whose name ends like that. */
export function readSources(root: string, folders: readonly string[], ending: RegExp): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => ending.test(file) && !file.includes('node_modules'))
      .sort()
      .map((file) => path.posix.join(folder, file))
      .map((file) => ({ path: file, text: readFileSync(path.join(root, file), 'utf8') })),
  );
}

/** The folder directly below `src`; for a file that lies there, its name. */
export function roomOf(file: string): string {
  return file.split('/')[1] ?? '';
}

export function lineCount(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Who imports whom, as groups of files; what lies outside of `src` is left out. */
export function edgesBetween(files: readonly SourceFile[], groupOf: (file: string) => string): Edge[] {
  const counts = new Map<string, number>();
  for (const file of files) {
    for (const [, specifier = ''] of file.text.matchAll(/(?:from|import\() ?'(\.[^']+)'/g)) {
      const target = path.posix.join(path.posix.dirname(file.path), specifier);
      const [from, to] = [groupOf(file.path), groupOf(target)];
      if (from === to || !target.startsWith('src/')) continue;
      const key = `${from} ${to}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return [...counts]
    .map(([key, count]) => {
      const [from = '', to = ''] = key.split(' ');
      return { from, to, count };
    })
    .sort((a, b) => b.count - a.count);
}

/** Pairs that import each other, each once; a folder and one inside it are no pair. */
export function bothWays(edges: readonly Edge[]): string[] {
  const all = new Set(edges.map(({ from, to }) => `${from} ${to}`));
  return edges
    .filter(({ from, to }) => from < to && all.has(`${to} ${from}`) && !to.startsWith(`${from}/`))
    .map(({ from, to }) => `${from} ⇄ ${to}`);
}

/** Spreads that add members only under a condition. */
export function conditionalSpreads(text: string): number {
  return text.match(/\.\.\.\((?:[^()]|\([^()]*\))*?(?:\? \{\} :|: \{\}\)|&& \{)/g)?.length ?? 0;
}

/** Casts by which a test leaves out what the code asks for. */
export function emptyCasts(text: string): number {
  return text.match(/\{\} as \w|\bas never\b/g)?.length ?? 0;
}

export function wordsOfComments(text: string): number {
  const comments = text.match(/\/\*[^]*?\*\/|^\s*\/\/.*$|(?<=\s)\/\/ .*$/gm) ?? [];
  return comments.reduce((sum, comment) => sum + wordCount(comment), 0);
}

export function wordCount(text: string): number {
  return text.split(/\s+/).filter((word) => /\p{L}|\d/u.test(word)).length;
}
