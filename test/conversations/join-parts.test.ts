import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Update } from 'grammy/types';
import { detectEntities } from '../servers/telegram/detect-entities.ts';
import { openDoor } from '../support/open-door.ts';
import { group, hearingBot, inGroup, said } from '../support/telegram-updates.ts';
import { systemClock } from '../../src/lib/clock.ts';

/** Each update reaches the next of two processes, which share the store alone. */
async function twoProcesses(t: TestContext) {
  const { onEvent, store } = await openDoor(t);
  const open = () =>
    hearingBot({
      onEvent,
      stored: () => undefined,
      pressed: () => assert.fail('nothing is pressed'),
      clock: systemClock,
    });
  const processes = [open(), open()] as const;
  let calls = 0;
  const waiting = async (chat: string) =>
    (await store.inbox.waitingIn(`telegram:${chat}`)).map(({ message }) => message);
  return {
    store,
    take: async (...updates: readonly Update[]) => {
      for (const update of updates) await processes[(calls += 1) % 2]?.take(update);
    },
    batch: async (updates: readonly Update[]) => {
      processes[0].foresee(updates);
      for (const update of updates) await processes[0].take(update);
    },
    texts: async (chat = '-1001') => (await waiting(chat)).map((message) => message?.text),
    waiting,
  };
}

const photo = [{ file_id: 'a', file_unique_id: 'a', width: 1, height: 1 }];

function piece(id: number, caption?: string): Update {
  const words = caption === undefined ? {} : { caption, caption_entities: detectEntities(caption) };
  const more = { text: undefined, entities: undefined, media_group_id: 'g', photo };
  return inGroup('', { message_id: id, ...more, ...words });
}

test('H3 the pieces of an album are one message, and a mention on a later one addresses them all', async (t) => {
  const { batch, waiting } = await twoProcesses(t);
  await batch([piece(1), piece(2, '@Our_Bot these'), piece(3)]);
  const [album, ...others] = await waiting('-1001');
  assert.deepEqual([album?.text, album?.attachments.length, others], ['these', 3, []]);
});

test('H3 Q9 the pieces of an album that reach different processes are one message, with its command', async (t) => {
  const { take, waiting } = await twoProcesses(t);
  await take(piece(1, '@Our_Bot these'), piece(2), piece(3), piece(2));
  const [album, ...others] = await waiting('-1001');
  assert.deepEqual([album?.text, album?.attachments.length, others], ['these', 3, []]);
});

/** A word of its own for every piece, without white space at its ends. */
const long = (letter: string, length: number): string => letter.repeat(length);

test('H3 Q9 a text that the client cut is joined, whatever process its pieces reach', async (t) => {
  const { take, waiting, store } = await twoProcesses(t);
  const say = (id: number, text: string, more: object = {}): Update =>
    inGroup(text, { message_id: id, entities: undefined, ...more });
  const command = [{ type: 'bot_command', offset: 0, length: 6 }];
  await take(
    say(1, `/skill ${long('a', 4089)}`, { entities: command }),
    say(2, 'me too', { from: { id: 5, is_bot: false, first_name: 'Eve' } }),
    say(3, long('b', 4050)),
    say(3, long('b', 4050)),
    say(4, '/c end', { entities: [{ type: 'bot_command', offset: 0, length: 2 }] }),
    say(5, 'a new thought'),
  );
  const [joined, ...others] = await waiting('-1001');
  assert.equal(joined?.text, `/skill ${long('a', 4089)}${long('b', 4050)}\n/c end`);
  assert.equal(joined.command?.name, 'skill');
  assert.deepEqual(others, []);
  const heard = await store.groupContext.recent('telegram:-1001', 9, 0);
  assert.deepEqual(
    heard.map(({ text }) => text).toSorted(),
    ['a new thought', 'me too'],
    'what nobody said to the bot',
  );
});

test('H3 a text that was cut and a later remark of the same person stay two messages', async (t) => {
  const { take, texts } = await twoProcesses(t);
  await take(
    said(long('a', 4096), { message_id: 1 }),
    said('and then', { message_id: 2, date: 1_700_000_003 }),
  );
  assert.deepEqual(await texts('42'), [long('a', 4096), 'and then']);
});

test('H3 what follows a picture, a short text or somebody else’s long one is a message of its own', async (t) => {
  const { take, texts } = await twoProcesses(t);
  const eve = { id: 5, is_bot: false, first_name: 'Eve' };
  await take(
    said('', { message_id: 1, text: undefined, photo }),
    said('short', { message_id: 2 }),
    said('shorter', { message_id: 3 }),
  );
  assert.deepEqual(await texts('42'), ['', 'short', 'shorter']);
  await take(
    inGroup(`@Our_Bot ${long('a', 4000)}`, { message_id: 4 }),
    inGroup('@Our_Bot hi', { message_id: 5, from: eve }),
  );
  assert.deepEqual(await texts(String(group.id)), [long('a', 4000), 'hi']);
});
