import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  parentOf,
  recordTaint,
  roomOf,
  startedIn,
  taintAround,
  taintOf,
  wroteAddress,
} from '../../src/access/taint-of.ts';
import type { Entry, Taint } from '../../src/core/entry.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Transcripts } from '../../src/store/store.ts';
import { partOf } from '../support/app-of.ts';

const chat = 'telegram:42';
const run = `${chat}#run:${'0a'.repeat(8)}`;
const inner = `${run}#run:${'1b'.repeat(8)}`;
const dayMs = 86_400_000;

async function setUp(t: TestContext, marked: Readonly<Record<string, readonly (Taint | undefined)[]>> = {}) {
  const store = await openStore('sqlite::memory:');
  t.after(() => store.close());
  const write = (transcript: string, ...entries: readonly Entry[]) =>
    store.commit({ entries: entries.map((entry) => ({ transcript, entry })) });
  for (const [transcript, marks] of Object.entries(marked))
    for (const mark of marks)
      await write(transcript, said({ ...(mark === undefined ? {} : { taint: mark }) }));
  const journal = async (id: string) => (await store.transcripts.read(id)).entries.map(({ entry }) => entry);
  return { store, write, journal };
}

function said(change: Partial<Extract<Entry, { kind: 'user' }>> = {}): Entry {
  return { kind: 'user', sender: 'telegram:42', content: 'x', at: 1, ...change };
}

test('S7 a run belongs to what started it, and each journal of a conversation has its own name', () => {
  for (const [id, parent] of [
    [inner, run],
    [run, chat],
    [chat, chat],
    // Only the end of an id says that it is a run, in full.
    [`${run}x`, `${run}x`],
    [`${run}#taint`, `${run}#taint`],
    [`${chat}#run:0a`, `${chat}#run:0a`],
    [`${chat}#run:${'0A'.repeat(8)}`, `${chat}#run:${'0A'.repeat(8)}`],
  ] as const)
    assert.equal(parentOf(id), parent, id);
  for (const id of [chat, run, inner]) {
    assert.equal(startedIn(id), `${chat}#taint`, id);
    assert.equal(roomOf(id), `${chat}#room`, id);
  }
  const fresh = `${chat}@2`;
  assert.equal(startedIn(`${fresh}${run.slice(chat.length)}`), `${fresh}#taint`, '/new begins another one');
  assert.equal(roomOf(`${fresh}${run.slice(chat.length)}`), `${chat}#room`, 'the folder outlives /new');
});

test('S7 a journal is marked as its entries are together, and wholly where one is damaged', async (t) => {
  const { store } = await setUp(t, {
    none: [undefined],
    one: [undefined, 'mail', 'mail'],
    two: ['mail', 'diary'],
  });
  assert.equal(await taintOf(store.transcripts, 'none'), undefined);
  assert.equal(await taintOf(store.transcripts, 'one'), 'mail');
  assert.equal(await taintOf(store.transcripts, 'two'), true);
  const damaged = partOf<Transcripts>({ read: async () => ({ entries: [], damaged: 1 }) });
  assert.equal(await taintOf(damaged, 'x'), true);
});

test('S7 a run is marked by itself, by what started it and by what else its conversation started, and by no other', async (t) => {
  const other = 'telegram:420';
  for (const [place, reaches] of [
    [inner, [inner]],
    [run, [inner, run]],
    [chat, [inner, run, chat]],
    [startedIn(chat), [inner, run, chat]],
    [other, []],
    [roomOf(chat), []],
    [`${chat}#run:${'2c'.repeat(8)}`, []],
  ] as const) {
    const { store } = await setUp(t, { [place]: ['mail'] });
    const found: string[] = [];
    for (const id of [inner, run, chat])
      if ((await taintAround(store.transcripts, id)) === 'mail') found.push(id);
    assert.deepEqual(found, reaches, place);
  }
  const { store } = await setUp(t, { [run]: ['mail'], [chat]: ['diary'] });
  assert.equal(await taintAround(store.transcripts, run), true, 'of two skills');
});

test('S7 a mark is noted once a day, and at once where it says more than before', async (t) => {
  const { store, journal } = await setUp(t);
  const noted = async (taint: Taint | undefined, at: number) => {
    await recordTaint(store, 'j', taint, at);
    return (await journal('j')).map((entry) => [
      entry.kind,
      'taint' in entry ? entry.taint : undefined,
      entry.at,
    ]);
  };
  const now = 30 * dayMs;
  assert.deepEqual(await noted(undefined, now), [], 'there is nothing to note');
  const first = [['taint', 'mail', now]];
  assert.deepEqual(await noted('mail', now), first);
  assert.deepEqual(await noted('mail', now + 1), first);
  assert.deepEqual(await noted('mail', now + dayMs - 1), first);
  const second = [...first, ['taint', 'mail', now + dayMs]];
  assert.deepEqual(await noted('mail', now + dayMs), second, 'a day later, or retention would drop it');
  const third = [...second, ['taint', true, now + dayMs + 1]];
  assert.deepEqual(await noted('diary', now + dayMs + 1), third, 'of another skill');
  assert.deepEqual(await noted('mail', now + dayMs + 2), third, 'part of what is known');
});

test('S7 an address counts as written only by this person, letter for letter, in the conversation of the run', async (t) => {
  const { store, write } = await setUp(t);
  const address = 'https://ann.example/';
  await write(chat, said(), said({ urls: ['https://first.example/', address] }));
  await write(chat, said({ sender: 'telegram:7', urls: ['https://ben.example/'] }));
  await write(chat, { kind: 'notice', text: `go to ${address}x`, at: 3 });
  await write(run, said({ urls: ['https://run.example/'] }));
  const wrote = (of: string, id = chat, sender = 'telegram:42') =>
    wroteAddress(store.transcripts, id, { sender, address: of });
  for (const id of [chat, run, inner]) {
    assert.equal(await wrote(address, id), true, id);
    assert.equal(await wrote('https://first.example/', id), true, id);
    assert.equal(await wrote('https://run.example/', id), false, 'a run writes for nobody');
    assert.equal(await wrote(`${address}x`, id), false, id);
    assert.equal(await wrote('https://ben.example/', id), false, 'somebody else wrote it');
  }
  assert.equal(await wrote('https://ben.example/', chat, 'telegram:7'), true);
  assert.equal(await wrote(address, chat, 'telegram:7'), false);
  assert.equal(await wrote(address, 'telegram:420'), false, 'another conversation');
});
