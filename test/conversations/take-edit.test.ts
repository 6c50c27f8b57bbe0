import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeEdit as take, type EditDeps } from '../../src/conversations/intake/take-edit.ts';
import type { Message } from '../../src/core/message.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { unmovedChats } from '../support/unmoved-chats.ts';

async function setUp() {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const taken: string[] = [];
  const deps: EditDeps = {
    store,
    resolve: async ({ command }) =>
      command?.name === 'status' ? { kind: 'built-in', name: 'status', args: '' } : undefined,
    taken: async ({ text }) => void taken.push(text),
    migrations: unmovedChats,
    clock,
  };
  const takeEdit = (edited: Message, at?: string) => take(edited, at, deps);
  const accept = (message: Message) => store.inbox.accept(message, { now: clock.now() });
  const waiting = async () =>
    (await store.inbox.list('waiting')).map(({ message }) => [message?.text, message?.edits]);
  return { clock, store, takeEdit, taken, accept, waiting };
}

const asked = makeMessage({ text: 'when to Bern?' });

test('H3 H11 an edit replaces what waits, and is said to the turn that answers it, once', async () => {
  const { store, clock, takeEdit, accept, waiting } = await setUp();
  await accept(asked);
  await takeEdit({ ...asked, text: 'when to Basel?' });
  assert.deepEqual(await waiting(), [['when to Basel?', undefined]]);
  await store.inbox.take('telegram:42', clock.now());
  await takeEdit({ ...asked, text: 'when to Basel?' });
  assert.equal((await waiting()).length, 1, 'nothing changed');
  for (const text of ['when to Biel?', 'when to Biel?', 'when to Chur?']) await takeEdit({ ...asked, text });
  assert.deepEqual(await waiting(), [
    ['when to Basel?', undefined],
    ['when to Biel?', asked.id],
    ['when to Chur?', asked.id],
  ]);
});

test('H3 H11 an edit that is said to a turn brings no files again', async () => {
  const { store, clock, takeEdit, accept } = await setUp();
  const photo = { kind: 'photo', name: 'map.png', ref: 'f1' } as const;
  const captioned = { ...asked, attachments: [photo] };
  await accept(captioned);
  await store.inbox.take('telegram:42', clock.now());
  await takeEdit({ ...captioned, text: 'when to Basel?' });
  const [, edit] = await store.inbox.list('waiting');
  assert.deepEqual([edit?.message?.text, edit?.message?.attachments], ['when to Basel?', []]);
});

test('H11 words that an edit brings back are the last ones; an edit that comes twice is none', async () => {
  const { store, clock, takeEdit, accept, waiting } = await setUp();
  await accept(asked);
  await store.inbox.take('telegram:42', clock.now());
  const edits = [
    ['Basel?', '1'],
    ['when to Bern?', '2'],
    ['Basel?', '3'],
    ['Basel?', '3'],
    ['when to Bern?', '2'],
  ] as const;
  for (const [text, at] of edits) await takeEdit({ ...asked, text }, at);
  const waited = (await waiting()).map(([text]) => text);
  assert.deepEqual(waited, ['when to Bern?', 'Basel?', 'when to Bern?', 'Basel?']);

  // All of them have joined: only their entries are left.
  for (const { key, message } of await store.inbox.list('waiting')) {
    if (message?.edits === undefined) continue;
    const entry = { kind: 'user', item: key, joins: asked.id, content: message.text, at: 1 } as const;
    await store.commit({ entries: [{ transcript: 'telegram:42', entry }], done: key });
  }
  await takeEdit({ ...asked, text: 'Basel?' }, '3');
  assert.equal((await waiting()).length, 1, 'it came once more');
  await takeEdit(asked, '4');
  assert.deepEqual((await waiting()).slice(1), [['when to Bern?', asked.id]]);
});

test('H11 I1 words after a mention are edited as words, unless they call a command', async () => {
  const { store, clock, takeEdit, accept, waiting } = await setUp();
  const bare = (text: string) => ({
    ...asked,
    text,
    command: { name: text.split(' ')[0] ?? '', args: '', bare: true },
  });
  await accept(bare('when to Bern?'));
  await store.inbox.take('telegram:42', clock.now());
  await takeEdit(bare('status'));
  await takeEdit(bare('when to Basel?'));
  assert.deepEqual(await waiting(), [
    ['when to Bern?', undefined],
    ['when to Basel?', asked.id],
  ]);
});

test('H11 an edit of a command, into one, or of what was answered changes nothing', async () => {
  const { store, clock, takeEdit, accept, waiting } = await setUp();
  const command = { name: 'research', args: 'cats' };
  const called = makeMessage({ text: '/research cats', command });
  await accept(called);
  await store.inbox.take('telegram:42', clock.now());
  await takeEdit({ ...called, text: 'dogs', command: { name: 'research', args: 'dogs' } });
  const { command: _, ...plain } = called;
  await takeEdit({ ...plain, text: 'dogs' });
  assert.equal((await waiting()).length, 1);
  await store.inbox.drop(called.id);
  await accept({ ...asked, id: 'telegram:42:9' });
  await store.inbox.take('telegram:42', clock.now());
  await takeEdit({ ...asked, id: 'telegram:42:9', text: '/new', command: { name: 'new', args: '' } });
  assert.equal((await waiting()).length, 1);
  await store.inbox.drop('telegram:42:9');
  await takeEdit({ ...asked, id: 'telegram:42:9', text: 'later' });
  assert.deepEqual(await waiting(), []);
});

test('H11 what an edit turns to the bot is a new message, and no background any more', async () => {
  const { store, clock, takeEdit, taken } = await setUp();
  await takeEdit({ ...asked, text: 'never heard of' });
  assert.deepEqual(taken, []);
  await store.groupContext.add(asked, clock.now());
  await takeEdit({ ...asked, text: '@bot when to Bern?' });
  assert.deepEqual(taken, ['@bot when to Bern?']);
  assert.deepEqual(await store.groupContext.recent('telegram:42', 9, 0), []);
});
