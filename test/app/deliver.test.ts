import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDelivery } from '../../src/app/deliver.ts';
import type { Channel } from '../../src/core/channel.ts';
import type { Conversation } from '../../src/core/conversation.ts';
import { SendError } from '../../src/core/errors.ts';
import { openStore } from '../../src/stores/open-store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';

type Send = (conversation: Conversation, text: string, key: string) => Promise<void>;

async function setUp(send: Send, found?: (key: string) => boolean) {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const sent: string[] = [];
  const moves: string[] = [];
  let place = (conversation: Conversation): Conversation => conversation;
  const channel = recordingChannel(sent, send, found);
  const log = quietLog();
  const delivery = createDelivery({
    outbox: store.outbox,
    channels: new Map([['telegram', channel]]),
    currentPlace: async (conversation) => place(conversation),
    onMoved: async (_from, to) => {
      moves.push(to);
      place = (conversation) => ({ ...conversation, chat: to });
    },
    clock,
    log,
  });
  delivery.start();
  const say = (chat: string, text: string, key = `${chat}-${text}`) =>
    store.commit({
      outbox: [{ key, conversation: { channel: 'telegram', chat }, part: { markdown: text } }],
    });
  return { clock, store, sent, moves, delivery, log, say };
}

const here = (chat: string): Conversation => ({ channel: 'telegram', chat });

test('Q6 parts go out in order within a conversation and a waiting one delays no other', async () => {
  let limited = true;
  const { clock, sent, say } = await setUp(async (conversation) => {
    if (conversation.chat !== '1' || !limited) return;
    limited = false;
    throw new SendError('retry', 'Too Many Requests: retry after 30', { retryAfterMs: 30_000 });
  });
  for (const text of ['a', 'b', 'c']) for (const chat of ['1', '2']) await say(chat, text);
  await clock.advance(1_000);
  assert.deepEqual(sent, ['2:a', '2:b', '2:c']);
  await clock.advance(30_000);
  assert.deepEqual(sent.slice(3), ['1:a', '1:b', '1:c']);
});

test('Q6 the same part written twice is sent once', async () => {
  const { clock, sent, say } = await setUp(async () => undefined);
  await say('1', 'a', 'same');
  await clock.advance(10);
  await say('1', 'a', 'same');
  await clock.advance(10);
  assert.deepEqual(sent, ['1:a']);
});

test('Q6 a send whose outcome is unknown is looked up, and repeated and counted where it is not found', async () => {
  const attempts: string[] = [];
  const { clock, store, sent, say } = await setUp(
    async (_conversation, text) => {
      attempts.push(text);
      if (attempts.filter((other) => other === text).length === 1)
        throw new SendError('unknown', 'the line broke');
    },
    (key) => key.endsWith('arrived'),
  );
  await say('1', 'arrived');
  await say('1', 'lost');
  await clock.advance(10_000);
  assert.deepEqual(attempts, ['arrived', 'lost', 'lost']);
  assert.deepEqual(sent, ['1:lost']);
  assert.equal(await store.outbox.pending(here('1')), 0);
});

test('Q6 a row that a dead process left in sending is looked up before it is sent again', async () => {
  const { clock, store, sent, delivery, say } = await setUp(async () => undefined);
  await delivery.stop(1_000);
  await say('1', 'first');
  await say('2', 'second');
  await store.outbox.sending('1-first');
  await store.outbox.sending('2-second');
  const again = createDelivery({
    outbox: store.outbox,
    channels: new Map([
      [
        'telegram',
        recordingChannel(
          sent,
          async () => undefined,
          (key) => key.endsWith('first'),
        ),
      ],
    ]),
    currentPlace: async (conversation) => conversation,
    onMoved: async () => undefined,
    clock,
    log: quietLog(),
  });
  again.start();
  await clock.runUntil(again.idle());
  assert.deepEqual(sent, ['2:second']);
});

test('Q6 a refused part is given up with its reason and the next one goes out', async () => {
  const { clock, store, sent, log, say } = await setUp(async (_conversation, text) => {
    if (text === 'a') throw new SendError('refused', 'Forbidden: bot was blocked by the user');
  });
  await say('1', 'a');
  await say('1', 'b');
  await clock.advance(1_000);
  assert.deepEqual(sent, ['1:b']);
  assert.equal(await store.outbox.pending(here('1')), 0);
  assert.ok(log.lines.some(({ level, message }) => level === 'error' && message.includes('given up')));
});

test('A6 a part for a chat that moved goes to its new id', async () => {
  const { clock, sent, moves, say } = await setUp(async (conversation) => {
    if (conversation.chat === '-5') throw new SendError('refused', 'upgraded', { movedTo: '-1005' });
  });
  await say('-5', 'a');
  await clock.advance(1_000);
  assert.deepEqual(moves, ['-1005']);
  assert.deepEqual(sent, ['-1005:a']);
});

/** Keeps what was sent as `CHAT:TEXT`; `send` may throw as a platform would. */
function recordingChannel(sent: string[], send: Send, found?: (key: string) => boolean): Channel {
  return {
    name: 'telegram',
    start: async () => undefined,
    stop: async () => undefined,
    split: (markdown) => [markdown],
    async send(conversation, part, key) {
      await send(conversation, part.markdown, key);
      sent.push(`${conversation.chat}:${part.markdown}`);
      return { id: key };
    },
    find: async (_conversation, key) => (found?.(key) === true ? { id: key } : undefined),
    edit: async () => undefined,
    status: async () => undefined,
    setMenus: async () => [],
    lookUpChat: async () => ({ chatType: 'unknown', external: false }),
    directLink: () => undefined,
  };
}
