import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { SearchableText } from '../../src/core/memory.ts';
import { openStore } from '../../src/store/open-store.ts';
import { openConnection } from '../../src/store/sqlite/open-connection.ts';
import type { Store } from '../../src/store/store.ts';

const holder = 'chat telegram:-100';
const line = (n: number, asker: string): SearchableText => ({
  holder,
  transcript: 'telegram:-100',
  conversation: { channel: 'telegram', chat: '-100' },
  asker,
  name: 'Ada',
  text: `every line ends with its number number${n}`,
  at: n,
});
const askerOf = (n: number): string => (n % 3 === 0 ? 'telegram:42' : 'telegram:7');
const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, n) => n + 1);

function fileIn(t: TestContext): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'skillet-search-'));
  t.after(() => rmSync(dir, { recursive: true }));
  return path.join(dir, 's.db');
}

async function numbersIn(store: Store, words: string): Promise<readonly string[]> {
  const found = await store.memories.search(holder, words, 1_000);
  return found.map(({ text }) => text.replace(/.*number/, ''));
}

async function agreesWithItsRows(file: string): Promise<void> {
  const connection = openConnection(file);
  // Fails if the index has a word that no row has, or lacks one.
  connection.exec(`INSERT INTO said_words (said_words, rank) VALUES ('integrity-check', 1)`);
  connection.close();
}

test('K5 Q12 each line is found once and goes with its person, whether it is in the index yet or not', async (t) => {
  const file = fileIn(t);
  const store = await openStore(`sqlite:${file}`);
  const all = upTo(150);
  for (const n of all) {
    await store.commit({ searchable: [line(n, askerOf(n))] });
    // 64 lines go into the index together; a search takes the rest there.
    if (n === 1 || n === 63 || n === 64 || n === 100)
      assert.deepEqual(await numbersIn(store, 'every line'), upTo(n).toReversed().map(String));
  }
  await store.forget('telegram:42');
  const left = all.filter((n) => askerOf(n) !== 'telegram:42');
  assert.deepEqual(await numbersIn(store, 'every line'), left.toReversed().map(String));
  assert.deepEqual(await numbersIn(store, 'number149'), ['149']);
  await store.commit({ searchable: upTo(70).map((n) => line(1_000 + n, 'telegram:7')) });
  assert.deepEqual(await numbersIn(store, 'number1070'), ['1070']);
  assert.deepEqual(await numbersIn(store, 'number1001'), ['1001']);
  await store.close();
  await agreesWithItsRows(file);
});
