import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAny } from '../../src/lib/markdown/parse-markdown.ts';
import { writeMarkdown } from '../../src/lib/markdown/write-markdown.ts';
import { takePlainTables } from '../../src/lib/markdown/plain-tables.ts';

const read = (source: string) =>
  takePlainTables(source).flatMap((piece) => piece.table ?? parseAny(piece.source));
const isTaken = (source: string) => takePlainTables(source).some(({ table }) => table !== undefined);

const table = '| a | b c |\n|---|:-:|\n| 1.5 % | - |\n| | (x), "y" |';
const around = [
  ['', ''],
  ['Words before\n\n', '\n\nWords after\n'],
  ['- an item\n  more\n\n', '\n\n- another\n\n    code\n'],
  ['> quoted\n\n', '\n \n1. one\n2. two'],
  ['# Head\n\n', '\n\n# Next\n\n| c |\n|--:|\n| d |\n'],
] as const;
/** What is like a plain table, and has something that the parser alone knows. */
const others = [
  'Words\n| a |\n|---|\n| 1 |',
  '| a |\n|---|\n| 1 |\nWords',
  '| a | b |\n|---|\n| 1 |',
  '| a |\n|---|\n| 1 | 2 |',
  '| a | b |\n|---|---|\n| 1 |',
  '| a \\| b |\n|---|\n| 1 |',
  '| `a | b` |\n|---|\n| 1 |',
  '| **a** |\n|---|\n| x_y_z |',
  '| a |\n|---|\n| www.example.com |',
  '| a |\n|---|\n| a@b.example |',
  '| a |\n|---|\n| &amp; |',
  '| a |\n| b |',
  ' | a |\n |---|\n | 1 |',
  '- | a |\n  |---|\n  | 1 |',
  '> | a |\n> |---|\n> | 1 |',
  '```\n\n| a |\n|---|\n| 1 |\n\n```',
  '[x]\n\n| a |\n|---|\n| 1 |\n\n[x]: https://example.com/',
  '| a |\n|---|\n\n| 1 |',
  '| a\n|---\n| 1',
  '||\n|---|\n| 1 |',
];

test('H2 S9 a table of plain cells is read as the parser reads it, wherever it stands', () => {
  for (const [before, after] of around) {
    const source = `${before}${table}${after}`;
    assert.ok(isTaken(source), source);
    assert.deepEqual(read(source), parseAny(source), source);
  }
  assert.equal(
    writeMarkdown({ type: 'root', children: parseAny(table) }),
    '| a | b c |\n| --- | :-: |\n| 1.5 % | - |\n|  | (x), "y" |',
  );
  for (const source of others) assert.deepEqual(read(source), parseAny(source), source);
});
