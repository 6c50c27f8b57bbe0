import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createInboxWorker } from '../../src/conversations/inbox-worker.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { InboxItem } from '../../src/store/inbox.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';

type Handle = (item: InboxItem, signal: AbortSignal) => Promise<void>;

async function setUp(
  handle: Handle,
  more: { concurrency?: number; progressed?: boolean | (() => Promise<boolean>) } = {},
) {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const dead: string[] = [];
  const log = quietLog();
  const make = () =>
    createInboxWorker(
      {
        handle: async (item, signal) => {
          await handle(item, signal);
          await store.commit({ done: item.key });
        },
        progressed: async () =>
          typeof more.progressed === 'function' ? more.progressed() : (more.progressed ?? false),
        onDead: async (item) => void dead.push(item.key),
        channels: ['telegram'],
        concurrency: more.concurrency ?? 8,
      },
      { store, clock, log },
    );
  const queues = make();
  queues.start();
  const say = (chat: string, n: number) =>
    store.inbox.accept(
      makeMessage({ id: `telegram:${chat}:${n}`, conversation: { channel: 'telegram', chat } }),
      { now: clock.now() },
    );
  return { clock, store, dead, queues, make, log, say };
}

test('Q3 a queue keeps its order while queues go on side by side, at most as many as configured', async () => {
  const log: string[] = [];
  let running = 0;
  let most = 0;
  const { clock, say } = await setUp(
    async (item) => {
      most = Math.max(most, ++running);
      await clock.sleep(item.queue.endsWith('1') ? 50 : 1);
      log.push(item.key);
      running--;
    },
    { concurrency: 3 },
  );
  for (let n = 0; n < 5; n++) for (const chat of ['1', '2', '3', '4']) await say(chat, n);
  await clock.advance(1_000);
  for (const chat of ['1', '2', '3', '4']) {
    const mine = log.filter((key) => key.startsWith(`telegram:${chat}:`));
    assert.deepEqual(
      mine,
      [0, 1, 2, 3, 4].map((n) => `telegram:${chat}:${n}`),
    );
  }
  assert.equal(most, 3);
  assert.ok(log.indexOf('telegram:2:4') < log.indexOf('telegram:1:4'), 'a slow queue delayed another');
});

test('Q3 after three failed tries a message is set aside, the person told, and its queue goes on', async () => {
  const tried: string[] = [];
  const { clock, store, dead, say } = await setUp(async (item) => {
    tried.push(item.key);
    if (item.key.endsWith(':0')) throw new Error('poison');
  });
  await say('1', 0);
  await say('1', 1);
  await clock.advance(60_000);
  assert.deepEqual(tried, ['telegram:1:0', 'telegram:1:0', 'telegram:1:0', 'telegram:1:1']);
  assert.deepEqual(dead, ['telegram:1:0']);
  assert.equal((await store.inbox.list('dead'))[0]?.error, 'poison');
  assert.equal(await store.inbox.retry('telegram:1:0'), true);
  await clock.advance(60_000);
  assert.equal(tried.filter((key) => key === 'telegram:1:0').length, 6);
});

test('Q3 a try that journalled something is not counted', async () => {
  let tries = 0;
  const { clock, store, dead, log, say } = await setUp(
    async () => {
      if (++tries < 6) throw new Error('the model is away');
    },
    { progressed: true },
  );
  await say('1', 0);
  await clock.advance(60_000);
  assert.equal(tries, 6);
  assert.deepEqual(dead, []);
  assert.deepEqual(await store.inbox.list('waiting'), []);
  assert.equal(log.lines.filter(({ message }) => message.includes('could not go on')).length, 0);
});

test('Q4 a running item hears that it is to stop, wherever that was said', async () => {
  const ended: string[] = [];
  const { clock, store, say } = await setUp((item, signal) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => resolve());
    return promise.then(() => void ended.push(item.key));
  });
  for (const chat of ['1', '2']) await say(chat, 0);
  await clock.advance(1);
  await store.signals.send('stop', 'telegram:1:0');
  await clock.advance(1);
  assert.deepEqual(ended, ['telegram:1:0']);
});

test('Q4 an item that was stopped before its process died is ended, not gone on with', async () => {
  const reasons: unknown[] = [];
  const { clock, store, queues, say } = await setUp(async (_item, signal) => {
    reasons.push(signal.aborted && (signal.reason as Error).name);
  });
  await queues.stop(0);
  await say('1', 0);
  await store.inbox.take('telegram:1', clock.now());
  assert.deepEqual((await store.stop({ items: ['telegram:1:0'] })).stopping, ['telegram:1:0']);
  queues.start();
  await clock.advance(10_000);
  assert.deepEqual(reasons, ['AbortError']);
  assert.deepEqual(await store.inbox.list('waiting'), []);
});

test('Q4 an item that is to stop while it is being taken up is ended, too', async () => {
  const asked = Promise.withResolvers<void>();
  const judged = Promise.withResolvers<boolean>();
  const reasons: unknown[] = [];
  const { clock, store, queues, make, say } = await setUp(
    async (_item, signal) => {
      reasons.push(signal.aborted && (signal.reason as Error).name);
    },
    {
      progressed: () => {
        asked.resolve();
        return judged.promise;
      },
    },
  );
  await queues.stop(0);
  await say('1', 0);
  await store.inbox.take('telegram:1', clock.now());
  const next = make();
  next.start();
  await asked.promise;
  await store.signals.send('stop', 'telegram:1:0');
  judged.resolve(true);
  await next.idle();
  assert.deepEqual(reasons, ['AbortError']);
});

test('Q7 stopping waits for what runs, aborts it when the time is over, and takes nothing more', async () => {
  const reasons: unknown[] = [];
  const { clock, store, queues, say } = await setUp((_item, signal) => {
    const { promise, reject } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => {
      reasons.push((signal.reason as Error).name);
      reject(signal.reason as Error);
    });
    return promise;
  });
  await say('1', 0);
  await say('1', 1);
  await clock.advance(1);
  await clock.runUntil(queues.stop(20_000));
  assert.deepEqual(reasons, ['ShutdownError']);
  assert.equal((await store.inbox.take('telegram:1', clock.now()))?.interruptedAt, undefined);
  const left = await store.inbox.list('waiting');
  assert.deepEqual(
    left.map(({ key, tries }) => [key, tries]),
    [
      ['telegram:1:0', 0],
      ['telegram:1:1', 0],
    ],
  );
});

test('Q6 an item of a channel that is not open here waits for a process where it is', async () => {
  const { clock, store, say } = await setUp(async () => undefined);
  for (let n = 0; n < 40; n++) {
    const conversation = { channel: 'closed', chat: String(n) };
    await store.inbox.accept(makeMessage({ id: `closed:${n}`, conversation }), { now: clock.now() });
  }
  await say('1', 0);
  await clock.advance(100);
  const left = await store.inbox.list('waiting');
  assert.equal(left.length, 40);
  assert.ok(left.every(({ queue }) => queue.startsWith('closed:')));
});

for (const [what, afterMs] of [
  ['at once', 0],
  ['after a while', 1_000],
] as const) {
  test(`Q3 messages that end the process ${what} are set aside, those beside them are answered`, async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'skillet-queues-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const clock = createManualClock();
    const poison = ['telegram:3:0', 'telegram:6:0'];
    const dead: string[] = [];
    const answered: string[] = [];

    /** One life of the process; false when it ended by itself. */
    async function live(first: boolean): Promise<boolean> {
      const store = await openStore(`sqlite:${folder}/store.db`, { clock });
      const over = Promise.withResolvers<boolean>();
      const queues = createInboxWorker(
        {
          async handle({ key }) {
            await clock.sleep(poison.includes(key) ? afterMs : 5_000);
            if (poison.includes(key)) {
              over.resolve(false);
              return new Promise(() => undefined);
            }
            await store.commit({ done: key });
            answered.push(key);
          },
          progressed: async () => false,
          onDead: async ({ key }) => void dead.push(key),
          channels: ['telegram'],
          concurrency: 8,
        },
        { store, clock, log: quietLog() },
      );
      for (let chat = 0; first && chat < 8; chat++)
        await store.inbox.accept(
          makeMessage({
            id: `telegram:${chat}:0`,
            conversation: { channel: 'telegram', chat: String(chat) },
          }),
          { now: clock.now() },
        );
      queues.start();
      const state = { ended: false };
      void over.promise.then(() => (state.ended = true));
      while (!state.ended) {
        await clock.advance(500);
        if ((await store.inbox.list('waiting')).length === 0) over.resolve(true);
        await new Promise(setImmediate);
      }
      await store.close();
      return over.promise;
    }

    let lives = 1;
    while (!(await live(lives === 1))) assert.ok(++lives < 20, 'it dies again and again');
    assert.deepEqual(dead.toSorted(), poison);
    assert.equal(answered.length, 6);
    assert.equal(new Set(answered).size, 6);
  });
}
