/**
 * The size and shape of the code: `npm run house`. With `--write` the table goes into docs/architecture.md, with
 * `--edges` each import between rooms is printed, too, with `--functions` each long function, with `--docs` each short
 * doc.
 * Figures are printed, never judged.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { executedFiles } from './executed-files.ts';
import { longFunctions } from './long-functions.ts';
import { measureHouse } from './measure-house.ts';
import { shortDocs } from './short-docs.ts';
import { edgesBetween, readSources, roomOf } from './source.ts';

const root = path.join(import.meta.dirname, '../..');
const document = path.join(root, 'docs/architecture.md');
const [start, end] = ['<!-- house -->', '<!-- /house -->'];

const source = readSources(root, ['src'], /\.(?:ts|js)$/);
const executed = await executedFiles(root);
const table = toTable(measureHouse(root, source, executed));
process.stdout.write(`${table}\n`);
if (process.argv.includes('--edges')) {
  for (const { from, to, count } of edgesBetween(source, roomOf))
    process.stdout.write(`${from} → ${to}: ${count}\n`);
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

function toTable(rows: ReturnType<typeof measureHouse>): string {
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
