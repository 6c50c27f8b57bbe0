import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createInboxWorker } from '../../src/conversations/inbox-worker.ts';
import { cancelWork } from '../../src/runs/tasks.ts';
import { stopOwnRun, stopTask, stopWork } from '../../src/conversations/stop-work.ts';
import { taskId, tasksHere } from '../../src/conversations/stop-work.ts';
import type { Message } from '../../src/core/message.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';

const room = { channel: 'slack', chat: 'C1' };
const ada = { id: 'slack:UA', name: 'Ada', kind: 'person' } as const;
const ben = { id: 'slack:UB', name: 'Ben', kind: 'person' } as const;

/** Real queues whose work ends when it is cancelled, or fails at once. */
async function setUp(t: { after(end: () => Promise<void>): void }, work: 'runs' | 'fails') {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const cancelled: string[] = [];
  const began = new Map<string, PromiseWithResolvers<void>>();
  const begins = (id: string): PromiseWithResolvers<void> => {
    const one = began.get(id) ?? Promise.withResolvers<void>();
    began.set(id, one);
    return one;
  };
  const queues = createInboxWorker(
    {
      handle: async (item, signal) => {
        begins(item.key).resolve();
        if (work === 'fails') throw new Error('no answer this time');
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        cancelled.push(item.key);
        await store.commit({ done: item.key });
      },
      progressed: async () => false,
      onDead: async () => undefined,
      channels: ['slack'],
      concurrency: 8,
    },
    { store, clock, log: quietLog() },
  );
  t.after(async () => {
    const items = (await store.inbox.list('waiting')).map(({ key }) => key);
    await cancelWork(store, { items });
    await queues.stop(0);
    await store.close();
  });
  queues.start();
  const say = async (id: string, sender: Message['sender'], thread: string): Promise<void> => {
    const conversation = { ...room, thread };
    const message = makeMessage({ id, sender, conversation, chatType: 'channel' });
    await store.inbox.accept(message, { now: clock.now() });
  };
  const stop = (sender: Message['sender'], thread: string | undefined, isOwner = false): Promise<string> => {
    const conversation = thread === undefined ? room : { ...room, thread };
    const message = makeMessage({ sender, conversation, chatType: 'channel' });
    return stopWork(message, { isOwner, store, onStopped: unasked });
  };
  const waiting = async () => (await store.inbox.list('waiting')).map(({ key }) => key);
  return { queues, store, cancelled, begun: (id: string) => begins(id).promise, say, stop, waiting };
}

test('Q4 /stop drops what waits for its next try', async (t) => {
  const { queues, begun, say, stop, waiting } = await setUp(t, 'fails');
  await say('a1', ada, '1');
  await begun('a1');
  await queues.idle();
  assert.deepEqual(await waiting(), ['a1']);
  assert.equal(await stop(ben, '1'), 'Nothing is running here.');
  assert.match(await stop(ada, '1'), /^Nothing was running\. I cancelled 1 waiting message\.$/);
  assert.deepEqual(await waiting(), []);
});

test('Q4 I3 in a group a sender stops their own work, the owner everything of the queue', async (t) => {
  const { cancelled, begun, say, stop, waiting } = await setUp(t, 'runs');
  for (const [id, sender] of [
    ['a1', ada],
    ['b1', ben],
    ['a2', ada],
    ['b2', ben],
  ] as const)
    await say(id, sender, '1');
  await begun('a1');
  assert.match(await stop(ben, '1'), /^I cancelled 2 waiting messages\. Only `Ada` or an owner/);
  assert.deepEqual(await waiting(), ['a1', 'a2']);
  assert.match(await stop(ben, '1'), /^Only `Ada`/);
  assert.deepEqual(cancelled, []);
  assert.equal(await stop(ben, '1', true), 'I cancelled 1 waiting message.', 'as the owner, of everybody');
  assert.deepEqual(cancelled, ['a1']);
});

test('I1 /stop from outside the threads reaches the own work in each thread of that chat, and no other', async (t) => {
  const { cancelled, begun, say, stop } = await setUp(t, 'runs');
  await say('a1', ada, '1');
  await say('a2', ada, '2');
  await say('b3', ben, '3');
  await Promise.all(['a1', 'a2', 'b3'].map(begun));
  assert.equal(await stop(ada, '9'), 'Nothing is running here.');
  assert.equal(await stop(ada, undefined, true), 'Stopping.');
  assert.deepEqual([...cancelled].sort(), ['a1', 'a2']);
});

test('I1 a command that begins a thread is about the whole chat, as one from outside of threads', async (t) => {
  const { store, cancelled, begun, say } = await setUp(t, 'runs');
  await say('a1', ada, '1');
  await say('b3', ben, '3');
  await Promise.all(['a1', 'b3'].map(begun));
  const runs = [ada, ben].map((sender, index) => {
    const conversation = { ...room, thread: `${index + 1}` };
    const task = { ...dig, id: `run${index}`, parent: 'slack:C1/1' };
    return makeMessage({ id: `task:${index}`, sender, conversation, chatType: 'channel', task });
  });
  // On a channel that nobody serves: they stay as they are.
  await store.commit({
    work: runs.map((message, index) => ({ queue: `slack:C1/${index + 1}~run${index}`, message })),
  });
  const conversation = { ...room, thread: '9' };
  const typed = (platformId: string) =>
    makeMessage({ sender: ada, conversation, platformId, chatType: 'channel' });
  const tasks = async (platformId: string) =>
    (await tasksHere(typed(platformId), store.inbox)).map((item) => taskId(item));
  assert.deepEqual([await tasks('10'), await tasks('9')], [[], ['run0']]);
  const stop = (platformId: string) =>
    stopWork(typed(platformId), { isOwner: false, store, onStopped: unasked });
  assert.equal(await stop('10'), 'Nothing is running here.');
  assert.match(await stop('9'), /^Stopping\./);
  assert.ok(cancelled.includes('a1') && !cancelled.includes('b3'));
});

test('U9 a background run is stopped by who began it or the owner, by nobody else', async (t) => {
  const { store } = await setUp(t, 'runs');
  const task = { ...dig, id: 'abcdef0123456789', parent: 'slack:C1/1' };
  const conversation = { ...room, thread: '1' };
  const message = makeMessage({ id: 'task:a', sender: ada, conversation, chatType: 'channel', task });
  await store.commit({
    work: [
      { queue: 'closed:C1~a', message },
      { queue: 'slack:C1/1~a', message: { ...message, id: 'task:b' } },
    ],
  });
  const optionsFor = (isOwner: boolean) => ({ isOwner, store, onStopped: unasked });
  const from = (sender: Message['sender']) => makeMessage({ sender, conversation, chatType: 'channel' });
  assert.match(
    await stopTask(from(ben), 'abcdef', optionsFor(false), '/tasks'),
    /^Only the person who started it/,
  );
  assert.match(await stopTask(from(ada), 'abd', optionsFor(false), '/tasks'), /no background run/);
  assert.equal(await stopOwnRun(ben, task.id, store), 'It has just finished.');
  assert.equal(await stopTask(from(ben), 'abcdef', optionsFor(true), '/tasks'), 'Stopping.');
});

const dig = {
  kind: 'run',
  tool: 'use_skill',
  skill: 'dig',
  input: { skill: 'dig', message: 'dig' },
  by: 'model',
  toolUseId: 'toolu_1',
} as const;

/** Nothing is asked in these conversations. */
const unasked = async (cancelled: readonly string[]) => assert.deepEqual(cancelled, []);
