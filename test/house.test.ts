import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import {
  bothWays,
  conditionalSpreads,
  edgesBetween,
  emptyCasts,
  lineCount,
  median,
  readSources,
  roomOf,
  wordsOfComments,
} from '../bench/house/source.ts';
import { longFunctions } from '../bench/house/long-functions.ts';
import { shortDocs } from '../bench/house/short-docs.ts';

/** Rooms whose exported docs are all sentences. */
const roomsWithSentences = [
  'access',
  'agent',
  'audit',
  'bot',
  'channels',
  'cli',
  'config',
  'conversations',
  'core',
  'dashboard',
  'features',
  'folders',
  'lib',
  'limits',
  'operator',
  'replies',
  'runs',
  'sandbox',
  'skills',
  'store',
  'tools',
];

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

test('house: exported docs of five words or fewer are found, on members too; an id is no word', () => {
  const text = `
/** Six words are enough for this. */
export type Kept = Readonly<{
  /** Absent: off here (K3, M7). */
  memory?: Readonly<{
    /** Within seconds. */
    deadline: number;
  }>;
}>;
/** Not exported. */
const hidden = 1;
/** By key. */
export function find(options: {
  /** In bytes. */
  limit: number;
}): number {
  /** Inside. */
  const inner = options.limit;
  return inner + hidden;
}
`;
  assert.deepEqual(shortDocs({ path: 'src/a/x.ts', text }), [
    { where: 'src/a/x.ts:4', words: 'Absent: off here (K3, M7).' },
    { where: 'src/a/x.ts:6', words: 'Within seconds.' },
    { where: 'src/a/x.ts:12', words: 'By key.' },
    { where: 'src/a/x.ts:14', words: 'In bytes.' },
  ]);
});

test('house: each doc comment stands before what it describes, not before another comment', () => {
  const sources = readSources(path.join(import.meta.dirname, '..'), ['src', 'test', 'bench'], /\.ts$/);
  const lost = sources.filter(({ text }) => /\*\/\n *\/\*\*/.test(text)).map(({ path: file }) => file);
  assert.deepEqual(lost, []);
});

for (const room of roomsWithSentences) {
  test(`house: ${room} has no exported doc of five words or fewer`, () => {
    const files = readSources(path.join(import.meta.dirname, '..'), [`src/${room}`], /\.ts$/);
    assert.deepEqual(files.flatMap(shortDocs), []);
  });
}

test('house: the five hearts of the spine have at most 60 lines, and no feature is among them', () => {
  const source = readSources(path.join(import.meta.dirname, '..'), ['src'], /\.ts$/);
  for (const [file, heart] of [
    ['src/conversations/intake/receive-event.ts', 'receiveEvent'],
    ['src/conversations/intake/admit.ts', 'admit'],
    ['src/conversations/handle-item.ts', 'handleItem'],
    ['src/conversations/turn.ts', 'takeTurn'],
    ['src/replies/deliver.ts', 'createDelivery'],
  ]) {
    const one = source.find(({ path: place }) => place === file);
    assert.ok(one !== undefined && one.text.includes(`function ${heart}(`), `${file} has no ${heart}`);
    const long = longFunctions(one).map(({ name }) => name);
    assert.ok(!long.includes(heart ?? ''), `${heart} is too long`);
    assert.doesNotMatch(one.text, /features\/[a-z]/, file);
  }
});

test('house: a long function is found whatever its form, by the lines that it has', () => {
  const body = '  a();\n'.repeat(3);
  const text = `function one() {\n${body}}\nconst two = () => {\n${body}};\nclass A {\n  three() {\n${body}  }\n}\n`;
  const found = longFunctions({ path: 'src/a.ts', text }, 4);
  assert.deepEqual(
    found.map(({ lines, name }) => [lines, name]),
    [
      [5, 'one'],
      [5, ''],
      [5, 'three'],
    ],
  );
  assert.deepEqual(longFunctions({ path: 'src/a.ts', text }, 5), []);
});
