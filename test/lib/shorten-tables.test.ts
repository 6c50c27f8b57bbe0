import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortenTables, type LargeTable } from '../../src/lib/markdown/shorten-tables.ts';

const below = (shown: number, { length }: LargeTable, index: number): string =>
  `${shown} of ${length - 1} in file ${index}`;
const table = (rows: number, cell = (row: number): string => `r${row}`): string =>
  ['| a | b |', '| - | -: |', ...Array.from({ length: rows }, (_, row) => `| ${cell(row)} | ${row} |`)].join(
    '\n',
  );

test('H2 a table of many rows is shown by its first ones, what stands around it as it was', () => {
  const markdown = `Before **it**.\n\n${table(11)}\n\nAfter it, \`a | b\`.`;
  const { markdown: short, tables } = shortenTables(markdown, 10, below);
  assert.equal(tables.length, 1);
  assert.deepEqual([tables[0]?.length, tables[0]?.[0], tables[0]?.at(-1)], [12, ['a', 'b'], ['r10', '10']]);
  assert.match(short, /^Before \*\*it\*\*\.\n\n\| a /);
  assert.match(short, /\| r7 \| 7 \|\n\n8 of 11 in file 1\n\nAfter it, `a \| b`\.$/);
  assert.doesNotMatch(short, /r8/);
});

test('H2 tables that fit, and answers without one, are not touched', () => {
  for (const markdown of ['no table', 'a | b', `x\n\n${table(10)}\n`, `\`\`\`\n${table(40)}\n\`\`\``])
    assert.deepEqual(shortenTables(markdown, 10, below), { markdown, tables: [] });
});
