import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bothWays,
  conditionalSpreads,
  edgesBetween,
  emptyCasts,
  lineCount,
  median,
  roomOf,
  wordsOfComments,
} from '../bench/house/source.ts';

test('house: imports between rooms are counted, inside a room and outside of src not', () => {
  const edges = edgesBetween(
    [
      { path: 'src/a/one.ts', text: "import { x } from '../b/x.ts';\nimport type { y } from './y.ts';\n" },
      { path: 'src/a/y.ts', text: "const x = await import('../b/x.ts');\nimport pg from 'pg';\n" },
      { path: 'src/b/x.ts', text: "export { z } from '../a/one.ts';\nimport '../../bench/z.ts';\n" },
    ],
    roomOf,
  );
  assert.deepEqual(edges, [
    { from: 'a', to: 'b', count: 2 },
    { from: 'b', to: 'a', count: 1 },
  ]);
  assert.deepEqual(bothWays(edges), ['a ⇄ b']);
  assert.deepEqual(bothWays(edges.slice(0, 1)), []);
});

test('house: spreads with a condition and casts that leave things out are found', () => {
  assert.equal(
    conditionalSpreads('({ ...(x === undefined ? {} : { x }), ...(a && { b: f(1) }), ...(rest) })'),
    2,
  );
  assert.equal(conditionalSpreads('[...(await list()), ...all]'), 0);
  // Not written out: this file is counted, too.
  const [as, never] = ['as', 'never'];
  assert.equal(emptyCasts(`const a = {} ${as} Needs; f(b as ${never}, [] as string[], {} ${as} Deps)`), 3);
});

test('house: lines, the median and words of comments', () => {
  assert.equal(lineCount('one\ntwo\n'), 2);
  assert.equal(median([9, 1, 4]), 4);
  assert.equal(
    wordsOfComments("/** Three short words. */\nconst url = 'http://no/words'; // but two\n// one - more\n"),
    7,
  );
});
