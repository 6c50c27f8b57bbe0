import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OutgoingFiles } from '../../src/replies/artifacts.ts';
import { createDelivery } from '../../src/replies/deliver.ts';
import type { Channel, Part, Receipt } from '../../src/core/channel.ts';
import type { Conversation } from '../../src/core/conversation.ts';
import { SendError } from '../../src/core/errors.ts';
import { openStore } from '../../src/store/open-store.ts';
import { partOf } from '../support/app-of.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import { anyFile, noFiles } from '../support/no-files.ts';

type Send = (conversation: Conversation, text: string, key: string) => Promise<void>;

/** What became of an edit or a deletion: `edit` gets the part, `remove` nothing. */
type Change = (receipt: Receipt, part: Part | undefined) => Promise<void>;

async function setUp(
  send: Send,
  found?: (key: string) => boolean,
  change?: Change,
  outgoing: typeof noFiles = noFiles,
) {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const sent: string[] = [];
  const moves: string[] = [];
  let place = (conversation: Conversation): Conversation => conversation;
  const channel = recordingChannel(sent, send, found, change);
  const log = quietLog();
  const counted: string[] = [];
  const outbox: typeof store.outbox = {
    ...store.outbox,
    async repeated(key) {
      counted.push(key);
      await store.outbox.repeated(key);
    },
  };
  const delivery = createDelivery({
    outbox,
    store,
    channels: new Map([['telegram', channel]]),
    currentPlace: async (conversation) => place(conversation),
    onMoved: async (_from, to) => {
      moves.push(to);
      place = (conversation) => ({ ...conversation, chat: to });
    },
    outgoing,
    clock,
    log,
  });
  delivery.start();
  const say = (chat: string, text: string, key = `${chat}-${text}`) =>
    store.commit({
      outbox: [{ key, conversation: { channel: 'telegram', chat }, part: { markdown: text } }],
    });
  return { clock, store, outbox, counted, sent, moves, delivery, log, say };
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
  const { clock, store, counted, sent, say } = await setUp(
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
  assert.deepEqual(counted, ['1-lost']);
  assert.equal(await store.outbox.pending(here('1')), 0);
});

test('Q6 what a platform took only after the first look for it is found before it is sent again', async () => {
  const attempts: string[] = [];
  const looks: string[] = [];
  const { clock, store, sent, say } = await setUp(
    async (_conversation, text) => {
      attempts.push(text);
      throw new SendError('unknown', 'no answer in time');
    },
    (key) => looks.push(key) > 1,
  );
  await say('1', 'late');
  await clock.advance(10_000);
  assert.deepEqual([attempts, looks, sent], [['late'], ['1-late', '1-late'], []]);
  assert.equal(await store.outbox.pending(here('1')), 0);
});

test('Q9 a part is marked as being sent when it is its turn, not before; where its conversation was lost by then it is not sent', async () => {
  const { clock, store, sent, log } = await setUp(async () => undefined);
  const turn = Promise.withResolvers<void>();
  const lost: string[] = [];
  const channel = recordingChannel(sent, async () => undefined);
  const delivery = createDelivery({
    store,
    outbox: {
      ...store.outbox,
      sending: async (key) => {
        lost.push(key);
        throw new Error('the queue was lost');
      },
    },
    channels: new Map([
      [
        'slow',
        {
          ...channel,
          send: async (...given) => {
            await turn.promise;
            return channel.send(...given);
          },
        },
      ],
    ]),
    currentPlace: async (conversation) => conversation,
    onMoved: async () => undefined,
    outgoing: noFiles,
    clock,
    log,
  });
  delivery.start();
  await store.commit({
    outbox: [{ key: 'a#0', conversation: { channel: 'slow', chat: '1' }, part: { markdown: 'a' } }],
  });
  await clock.advance(100);
  assert.deepEqual(lost, []);
  turn.resolve();
  await clock.advance(100);
  assert.deepEqual(lost, ['a#0']);
  assert.deepEqual(sent, []);
  assert.equal((await store.outbox.next('slow:1', clock.now()))?.status, 'waiting');
});

test('Q6 a row that a dead process left in sending is looked up before it is sent again', async () => {
  const { clock, store, outbox, counted, sent, delivery, say } = await setUp(async () => undefined);
  await delivery.stop(1_000);
  await say('1', 'first');
  await say('2', 'second');
  await store.outbox.sending('1-first');
  await store.outbox.sending('2-second');
  const again = createDelivery({
    outbox,
    store,
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
    outgoing: noFiles,
    clock,
    log: quietLog(),
  });
  again.start();
  await clock.runUntil(again.idle());
  assert.deepEqual(sent, ['2:second']);
  assert.deepEqual(counted, ['2-second']);
});

test('Q6 a look that fails is made again after the pause the platform asks for, and nothing is sent meanwhile', async () => {
  const { clock, store, sent, delivery, say } = await setUp(async () => undefined);
  await delivery.stop(1_000);
  await say('1', 'first');
  await store.outbox.sending('1-first');
  const looks: number[] = [];
  const began = clock.now();
  const again = createDelivery({
    outbox: store.outbox,
    store,
    channels: new Map([
      [
        'telegram',
        recordingChannel(
          sent,
          async () => undefined,
          () => {
            looks.push(clock.now() - began);
            if (looks.length === 1) throw new SendError('retry', 'slow down', { retryAfterMs: 30_000 });
            return true;
          },
        ),
      ],
    ]),
    currentPlace: async (conversation) => conversation,
    onMoved: async () => undefined,
    outgoing: noFiles,
    clock,
    log: quietLog(),
  });
  again.start();
  await clock.advance(29_999);
  assert.equal(await store.outbox.pending(here('1')), 1);
  await clock.advance(1);
  assert.deepEqual([looks, sent], [[0, 30_000], []]);
  assert.equal(await store.outbox.pending(here('1')), 0);
});

test('Q6 a look that the platform refuses finds nothing: the part is sent', async () => {
  const { clock, store, sent, delivery, say } = await setUp(
    async () => undefined,
    () => {
      throw new SendError('refused', 'missing_scope');
    },
  );
  await delivery.stop(1_000);
  await say('1', 'first');
  await store.outbox.sending('1-first');
  delivery.start();
  await clock.advance(3_600_000);
  assert.deepEqual(sent, ['1:first']);
});

test('Q6 Q14 a file whose bytes are not here yet is waited for about a minute, and then told as gone', async () => {
  const file = { id: 'a', name: 'a.csv', mime: 'text/csv', size: 1 };
  for (const [comesAt, said] of [
    [5, 'report'],
    [Infinity, 'report\n\nI could not send the file `a.csv` (1 byte). It is no longer stored.'],
  ] as const) {
    let looks = 0;
    const outgoing = partOf<OutgoingFiles>({
      find: async (id) => (++looks > comesAt ? `/outgoing/${id}` : undefined),
      remove: async () => undefined,
    });
    const { clock, store, sent } = await setUp(async () => undefined, undefined, undefined, outgoing);
    const part = { markdown: 'report', file };
    await store.commit({ outbox: [{ key: 'k', conversation: here('1'), part }] });
    await clock.advance(30_000);
    assert.deepEqual(sent, []);
    await clock.advance(40_000);
    assert.deepEqual(sent, [`1:${said}`]);
  }
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

test('Q6 T12 the files of a part that is given up are removed, of one that is tried again they stay', async () => {
  const removed: string[] = [];
  const outcome = { now: 'retry' as 'retry' | 'refused' };
  const { clock, store } = await setUp(
    async () => {
      throw new SendError(outcome.now, 'no');
    },
    undefined,
    undefined,
    partOf<OutgoingFiles>({
      find: async (id) => `/outgoing/${id}`,
      remove: async (id) => void removed.push(id),
    }),
  );
  const file = (id: string) => ({ id, name: `${id}.csv`, mime: 'text/csv', size: 1 });
  const part = { markdown: '', file: file('a'), more: [file('b')] };
  await store.commit({ outbox: [{ key: 'k', conversation: here('1'), part }] });
  await clock.advance(0);
  assert.deepEqual(removed, []);
  outcome.now = 'refused';
  await clock.advance(1_000);
  assert.deepEqual(removed, ['a', 'b']);
  assert.deepEqual(
    (await store.outbox.givenUp()).map(({ key }) => key),
    ['k'],
  );
});

test('Q6 a part that nobody takes is tried 300 times, five minutes apart at most, and then given up', async () => {
  const at: number[] = [];
  const { clock, store, sent, say } = await setUp(async (_conversation, text) => {
    if (text !== 'a') return;
    at.push(clock.now());
    throw new SendError('retry', '503');
  });
  await say('1', 'a');
  await say('1', 'b');
  await clock.advance(26 * 3_600_000);
  assert.deepEqual(sent, ['1:b']);
  assert.equal(at.length, 301);
  const pauses = at.slice(1).map((time, n) => time - (at[n] ?? 0));
  assert.deepEqual([pauses[0], pauses[1], pauses[7], Math.max(...pauses)], [1_000, 2_000, 128_000, 300_000]);
  assert.deepEqual(
    (await store.outbox.givenUp()).map(({ key }) => key),
    ['1-a'],
  );
});

test('Q6 after a part was refused with a pause nothing is sent before it is over', async () => {
  const at: number[] = [];
  const { clock, say } = await setUp(async () => {
    at.push(clock.now());
    if (at.length === 1) throw new SendError('retry', '429', { retryAfterMs: 40_000 });
  });
  await say('1', 'a');
  await clock.advance(39_999);
  assert.equal(at.length, 1);
  await clock.advance(1);
  assert.equal(at.length, 2);
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

test('Q6 a part takes the place of what is shown for it, and of nothing else after that', async () => {
  const { clock, store, sent, say } = await setUp(async () => undefined);
  await store.outbox.show('a#0', { id: '100' });
  await say('1', 'first', 'a#0');
  await say('1', 'second', 'a#1');
  await clock.advance(10);
  assert.deepEqual(sent, ['1:100 becomes first', '1:second']);
  assert.equal(await store.outbox.shown('a#0'), undefined);
  assert.equal(await store.outbox.pending(here('1')), 0);
});

test('U16 a part for one person is never an edit of what everybody sees, nor public when it is refused', async () => {
  const { clock, store, sent } = await setUp(async (_, text) => {
    if (text === 'for Ann') throw new SendError('refused', 'nobody alone can be shown it');
  });
  await store.outbox.show('a#0', { id: '7' });
  const part = { markdown: 'for Ann', onlyTo: 'telegram:42', privately: { at: 0, neutral: 'Not here.' } };
  await store.commit({ outbox: [{ key: 'a#0', conversation: here('-1'), part }] });
  await clock.advance(10);
  assert.deepEqual(sent, ['-1:7 goes', '-1:Not here.']);
  assert.equal(await store.outbox.pending(here('-1')), 0);
});

test('Q6 an edit whose outcome is unknown is made again, looked up by nobody and not counted', async () => {
  const looked: string[] = [];
  let broken = 2;
  const { clock, store, sent, log, say } = await setUp(
    async () => undefined,
    (key) => looked.push(key) < 0,
    async () => {
      if (broken-- > 0) throw new SendError('unknown', 'the line broke');
    },
  );
  await store.outbox.show('a#0', { id: '100' });
  await say('1', 'first', 'a#0');
  await clock.advance(10);
  assert.equal((await store.outbox.next('telegram:1', clock.now() + 60_000))?.repeats, 0);
  await clock.advance(10_000);
  assert.deepEqual(sent, ['1:100 becomes first']);
  assert.deepEqual(looked, []);
  assert.ok(!log.lines.some(({ message }) => message.includes('cut off')));
});

test('Q6 where what is shown can’t be changed any more the part is sent anew, and repeats of that count', async () => {
  let lost = true;
  const { clock, store, sent, say } = await setUp(
    async () => {
      if (!lost) return;
      lost = false;
      throw new SendError('unknown', 'the line broke');
    },
    undefined,
    async (_receipt, part) => {
      if (part !== undefined) throw new SendError('refused', "Bad Request: message can't be edited");
    },
  );
  await store.outbox.show('a#0', { id: '100' });
  await say('1', 'first', 'a#0');
  await clock.advance(10);
  const row = await store.outbox.next('telegram:1', clock.now() + 60_000);
  assert.deepEqual([row?.repeats, row?.shown], [1, undefined]);
  await clock.advance(10_000);
  assert.deepEqual(sent, ['1:100 goes', '1:first']);
});

test('Q6 a part without text removes what is shown in its place, tried again until it is gone or out of reach', async () => {
  const failures = [new SendError('retry', 'slow down', { retryAfterMs: 1_000 })];
  const { clock, store, sent, say } = await setUp(
    async () => undefined,
    undefined,
    async ({ id }) => {
      if (id === '200') throw new SendError('refused', "Bad Request: message can't be deleted");
      const failure = failures.pop();
      if (failure !== undefined) throw failure;
    },
  );
  await store.outbox.show('a#0', { id: '100' });
  await store.outbox.show('b#0', { id: '200' });
  await say('1', '', 'a#0');
  await say('1', '', 'b#0');
  await say('1', 'later', 'c#0');
  await clock.advance(2_000);
  assert.deepEqual(sent, ['1:100 goes', '1:later']);
  assert.equal(await store.outbox.shown('a#0'), undefined);
  assert.equal(await store.outbox.pending(here('1')), 0);
});

test('U13 Q6 a line that only showed work goes, tried again until it is gone or out of reach, and the part is sent', async () => {
  const failures = [new SendError('retry', 'slow down', { retryAfterMs: 1_000 })];
  const { clock, store, sent, say } = await setUp(
    async () => undefined,
    undefined,
    async ({ id }) => {
      if (id === '200') throw new SendError('refused', "Bad Request: message can't be deleted");
      const failure = failures.pop();
      if (failure !== undefined) throw failure;
    },
  );
  await store.outbox.show('a#0', { id: '100', silent: true });
  await store.outbox.show('b#0', { id: '200', silent: true });
  await say('1', 'first', 'a#0');
  await say('1', 'second', 'b#0');
  await clock.advance(999);
  assert.deepEqual(sent, []);
  await clock.advance(1_001);
  assert.deepEqual(sent, ['1:100 goes', '1:first', '1:second']);
  assert.equal(await store.outbox.shown('a#0'), undefined);
});

test('A6 what is shown in a chat that moved stands in the old one: the part is sent to the new one', async () => {
  const { clock, store, sent, say } = await setUp(
    async () => undefined,
    undefined,
    async () => {
      throw new SendError('retry', 'upgraded', { movedTo: '-1005' });
    },
  );
  await store.outbox.show('a#0', { id: '100' });
  await say('-5', 'first', 'a#0');
  await clock.advance(1_000);
  assert.deepEqual(sent, ['-1005:first']);
});

/** Keeps what was sent as `CHAT:TEXT`; `send` may throw as a platform would. */
function recordingChannel(
  sent: string[],
  send: Send,
  found?: (key: string) => boolean,
  change?: Change,
): Channel {
  return {
    name: 'telegram',
    start: async () => undefined,
    stop: async () => undefined,
    split: async (markdown) => [markdown],
    files: anyFile,
    async send(conversation, part, key, begin) {
      await begin?.();
      await send(conversation, part.markdown, key);
      sent.push(`${conversation.chat}:${part.markdown}`);
      return { id: key };
    },
    find: async (_conversation, key) => (found?.(key) === true ? { id: key } : undefined),
    async edit({ chat }, receipt, part) {
      await change?.(receipt, part);
      sent.push(`${chat}:${receipt.id} becomes ${part.markdown}`);
    },
    async remove({ chat }, receipt) {
      await change?.(receipt, undefined);
      sent.push(`${chat}:${receipt.id} goes`);
    },
    status: async () => undefined,
    setMenus: async () => [],
    fetchFile: async () => assert.fail('no file is fetched here'),
    lookUpChat: async () => ({ chatType: 'unknown', external: false }),
    command: (_, name, args = '') => `\`${`/${name} ${args}`.trim()}\``,
    directLink: () => undefined,
  };
}
