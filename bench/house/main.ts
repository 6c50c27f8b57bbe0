/**
 * The size and shape of the code: `npm run house`. With `--write` the table goes into docs/architecture.md, with
 * `--edges` each import between rooms is printed, too, with `--functions` each long function, with `--docs` each short
 * doc.
 * Figures are printed, never judged.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { doubleExports } from './double-exports.ts';
import { executedFiles } from './executed-files.ts';
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

const root = path.join(import.meta.dirname, '../..');
const document = path.join(root, 'docs/architecture.md');
const [start, end] = ['<!-- house -->', '<!-- /house -->'];

const source = readSources(root, ['src'], /\.(?:ts|js)$/);
const edges = edgesBetween(source, roomOf);
const executed = await executedFiles(root);
const table = toTable([...roomRows(), ...shapeRows(), ...proseRows(), ...executedRows()]);
process.stdout.write(`${table}\n`);
if (process.argv.includes('--edges')) {
  for (const { from, to, count } of edges) process.stdout.write(`${from} → ${to}: ${count}\n`);
}
if (process.argv.includes('--functions')) {
  const long = source.flatMap((file) => longFunctions(file)).sort((one, two) => two.lines - one.lines);
  for (const { lines, name, where } of long) process.stdout.write(`${lines}: ${name} (${where})\n`);
}
if (process.argv.includes('--docs')) {
  for (const { where, words } of source.flatMap(shortDocs)) process.stdout.write(`${where}: ${words}\n`);
}
if (process.argv.includes('--files')) process.stdout.write(`${JSON.stringify(executed, undefined, 1)}\n`);
if (process.argv.includes('--write')) write(table);
// The first sandbox of a process may leave a warm shell behind.
process.exit(0);

function roomRows(): Row[] {
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

function shapeRows(): Row[] {
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

function proseRows(): Row[] {
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

function executedRows(): Row[] {
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

function toTable(rows: readonly Row[]): string {
  return ['| measured | today |', '|---|---|', ...rows.map(([what, value]) => `| ${what} | ${value} |`)].join(
    '\n',
  );
}

function write(text: string): void {
  const old = readFileSync(document, 'utf8');
  const [from, to] = [old.indexOf(start), old.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${document} has no ${start} … ${end}`);
  writeFileSync(document, `${old.slice(0, from + start.length)}\n\n${text}\n\n${old.slice(to)}`);
}
