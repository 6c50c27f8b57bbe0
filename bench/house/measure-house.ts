import { readFileSync } from 'node:fs';
import path from 'node:path';
import { doubleExports } from './double-exports.ts';
import type { ExecutedFiles } from './executed-files.ts';
import { longFunctions } from './long-functions.ts';
import {
  bothWays,
  conditionalSpreads,
  edgesBetween,
  emptyCasts,
  lineCount,
  median,
  readSources,
  roomOf,
  wordCount,
  wordsOfComments,
  type SourceFile,
} from './source.ts';
import { shortDocs } from './short-docs.ts';

type Row = readonly [what: string, figure: string];

/** The rows of the table of the house. `source` are the files of `src`, `root` the folder of the project. */
export function measureHouse(
  root: string,
  source: readonly SourceFile[],
  executed: ExecutedFiles,
): readonly Row[] {
  return [
    ...roomRows(source),
    ...shapeRows(root, source),
    ...proseRows(root, source),
    ...executedRows(executed),
  ];
}

function roomRows(source: readonly SourceFile[]): Row[] {
  const lengths = source.map(({ text }) => lineCount(text));
  const rooms = Object.entries(Object.groupBy(source, ({ path: file }) => roomOf(file)));
  const perRoom = rooms.map(([room, files = []]) => ({ room, files: files.length, lines: linesOf(files) }));
  perRoom.sort((a, b) => b.lines - a.lines);
  return [
    ['src: files', figure(source.length)],
    ['src: lines', figure(linesOf(source))],
    ['src: lines of a file, median', figure(median(lengths))],
    [
      'rooms: lines / files',
      perRoom.map(({ room, lines, files }) => `${room} ${lines} / ${files}`).join(', '),
    ],
  ];
}

function shapeRows(root: string, source: readonly SourceFile[]): Row[] {
  const edges = edgesBetween(source, roomOf);
  const folders = edgesBetween(source, (file) => path.posix.dirname(file));
  const tests = readSources(root, ['test'], /\.ts$/);
  return [
    ['edges between rooms', figure(edges.length)],
    ['rooms that import each other', bothWays(edges).join(', ') || 'none'],
    ['folders that import each other', bothWays(folders).join(', ') || 'none'],
    ['functions of more than 60 lines', figure(source.flatMap((file) => longFunctions(file)).length)],
    ['`Pick<` in src', figure(total(source, (text) => text.split('Pick<').length - 1))],
    ['export names in two or more files', figure(doubleExports(source).length)],
    ['conditional spreads in src', figure(total(source, conditionalSpreads))],
    ['`{} as` and `as never` in tests', figure(total(tests, emptyCasts))],
  ];
}

function proseRows(root: string, source: readonly SourceFile[]): Row[] {
  const prose = [
    ...readSources(root, ['docs', 'src'], /\.md$/),
    ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'].map((file) => ({
      path: file,
      text: readFileSync(path.join(root, file), 'utf8'),
    })),
  ];
  return [
    ['words of comments in src', figure(total(source, wordsOfComments))],
    ['exported docs of five words or fewer', figure(source.flatMap(shortDocs).length)],
    ['words of documents', figure(total(prose, wordCount))],
  ];
}

function executedRows(executed: ExecutedFiles): Row[] {
  return [
    ['files executed: "hello" to its answer', figure(executed.hello.length)],
    ['files executed: a skill with a script', figure(executed.script.length)],
    ['files executed: an approval pressed after a restart', figure(executed.approval.length)],
  ];
}

function linesOf(files: readonly SourceFile[]): number {
  return total(files, lineCount);
}

function total(files: readonly SourceFile[], count: (text: string) => number): number {
  return files.reduce((sum, { text }) => sum + count(text), 0);
}

function figure(value: number): string {
  return value.toLocaleString('en');
}
