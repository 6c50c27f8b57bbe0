import assert from 'node:assert/strict';
import type { QueueWorker, Store } from '../../src/store/store.ts';
import { makeMessage } from './make-message.ts';
import type { StoreTest } from './store-contract.ts';

const now = () => Date.now();

async function say(store: Store, channel: string, chat: string, n: number): Promise<void> {
  const message = makeMessage({ id: `${channel}:${chat}:${n}`, conversation: { channel, chat } });
  assert.equal(await store.inbox.accept(message, { now: now() }), 'stored');
}

/** Answers everything; `during` is awaited while a queue is held. Gives the keys in the order they were taken. */
function answerAll(
  store: Store,
  during: (key: string) => Promise<void> = async () => undefined,
  more: { concurrency?: number; channels?: readonly string[] } = {},
): Readonly<{ serving: QueueWorker; taken: string[]; held: Set<string>; most(): number }> {
  const taken: string[] = [];
  const held = new Set<string>();
  const seen = { most: 0 };
  const serving = store.inbox.startWorker({
    channels: more.channels ?? ['telegram'],
    concurrency: more.concurrency ?? 4,
    async run(queue) {
      assert.ok(!held.has(queue), `${queue} was given to two takers`);
      held.add(queue);
      seen.most = Math.max(seen.most, held.size);
      try {
        const item = await store.inbox.take(queue, now());
        if (item === undefined) return;
        taken.push(item.key);
        await during(item.key);
        await store.commit({ done: item.key });
      } finally {
        held.delete(queue);
      }
    },
  });
  return { serving, taken, held, most: () => seen.most };
}

/** What every store promises of giving out queues (Q3, Q9), and of what goes with it. */
export function serveContract(storeTest: StoreTest): void {
  storeTest('Q3 queues are given out in order, each to one taker, so many at once', async (store) => {
    for (const n of [1, 2, 3]) for (const chat of ['1', '2', '3']) await say(store, 'telegram', chat, n);
    const gate = Promise.withResolvers<void>();
    const { serving, taken, held, most } = answerAll(store, () => gate.promise, { concurrency: 2 });
    // A third queue would be given out before a fourth message is stored.
    await say(store, 'telegram', '4', 1);
    gate.resolve();
    await serving.idle();
    assert.equal(most() <= 2, true, 'more queues at once than were wanted');
    assert.equal(held.size, 0);
    for (const chat of ['1', '2', '3']) {
      const own = taken.filter((key) => key.startsWith(`telegram:${chat}:`));
      assert.deepEqual(
        own,
        [1, 2, 3].map((n) => `telegram:${chat}:${n}`),
      );
    }
    assert.equal(taken.length, 10);
    await serving.stop();
  });

  storeTest('Q3 a queue that is held keeps no other from being given out', async (store) => {
    const gate = Promise.withResolvers<void>();
    await say(store, 'telegram', 'slow', 1);
    const { serving, taken } = answerAll(store, (key) =>
      key.includes('slow') ? gate.promise : Promise.resolve(),
    );
    const quick = Promise.withResolvers<void>();
    const { serving: other } = answerAll(store, async () => quick.resolve(), { channels: ['slack'] });
    await say(store, 'slack', 'C1', 1);
    await quick.promise;
    gate.resolve();
    await Promise.all([serving.idle(), other.idle()]);
    assert.deepEqual(taken, ['telegram:slow:1']);
    await Promise.all([serving.stop(), other.stop()]);
  });

  storeTest(
    'Q1 what is accepted, added, put off or retried while queues are served is given out',
    async (store) => {
      const heard = new Map<string, PromiseWithResolvers<void>>();
      const hear = (key: string): PromiseWithResolvers<void> => {
        const one = heard.get(key) ?? Promise.withResolvers<void>();
        heard.set(key, one);
        return one;
      };
      const { serving } = answerAll(store, async (key) => hear(key).resolve());
      await serving.idle();
      await say(store, 'telegram', '1', 1);
      await hear('telegram:1:1').promise;
      const message = makeMessage({ id: 'beside', conversation: { channel: 'telegram', chat: '1' } });
      await store.commit({ work: [{ queue: 'telegram:7', message }] });
      await hear('beside').promise;
      const held = makeMessage({ id: 'held', conversation: { channel: 'telegram', chat: '5' } });
      await store.inbox.accept(held, { now: now(), join: { key: 'album', holdMs: 50, glue: () => '' } });
      await hear('held').promise;
      await serving.idle();
      const dead = makeMessage({ id: 'dead', conversation: { channel: 'terminal', chat: '1' } });
      await store.inbox.accept(dead, { now: now() });
      await store.inbox.fail('dead', 'poison', undefined);
      const { serving: terminal } = answerAll(store, async (key) => hear(key).resolve(), {
        channels: ['terminal'],
      });
      assert.equal(await store.inbox.retry('dead'), true);
      await hear('dead').promise;
      await terminal.idle();
      await Promise.all([serving.stop(), terminal.stop()]);
    },
  );

  storeTest(
    'U9 Q3 queues beside conversations are given out apart from those of the conversations',
    async (store) => {
      const gate = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const work = [1, 2, 3].map((n) => ({
        queue: `telegram:1~run${n}`,
        message: makeMessage({ id: `run${n}`, conversation: { channel: 'telegram', chat: '1' } }),
      }));
      await store.commit({ work });
      const hold = async (): Promise<void> => {
        begun.resolve();
        await gate.promise;
      };
      const beside = answerAll(store, hold, { channels: ['telegram~'], concurrency: 2 });
      await begun.promise;
      const people = answerAll(store, undefined, { concurrency: 2 });
      // A chat id may hold the sign itself.
      for (const chat of ['1', 'a~b']) await say(store, 'telegram', chat, 1);
      await people.serving.idle();
      assert.deepEqual([...people.taken].sort(), ['telegram:1:1', 'telegram:a~b:1']);
      gate.resolve();
      await beside.serving.idle();
      assert.deepEqual([...beside.taken].sort(), ['run1', 'run2', 'run3']);
      await Promise.all([people.serving.stop(), beside.serving.stop()]);
    },
  );

  storeTest('Q3 a taker that fails gets the queue again', async (store) => {
    await say(store, 'telegram', '1', 1);
    const again = Promise.withResolvers<void>();
    let tries = 0;
    const serving = store.inbox.startWorker({
      channels: ['telegram'],
      concurrency: 1,
      async run(queue) {
        tries += 1;
        if (tries === 1) throw new Error('the first taker fails');
        const item = await store.inbox.take(queue, now());
        if (item !== undefined) await store.commit({ done: item.key });
        again.resolve();
      },
    });
    await again.promise;
    await serving.idle();
    await serving.stop();
  });

  storeTest('Q7 after a stop nothing more is given out, and what is held ends first', async (store) => {
    await say(store, 'telegram', '1', 1);
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const { serving, taken } = answerAll(store, () => {
      begun.resolve();
      return gate.promise;
    });
    await begun.promise;
    let stopped = false;
    const stopping = serving.stop().then(() => {
      stopped = true;
    });
    await say(store, 'telegram', '2', 1);
    assert.equal(stopped, false);
    gate.resolve();
    await stopping;
    assert.deepEqual(taken, ['telegram:1:1']);
    assert.equal((await store.inbox.list('waiting')).length, 1);
  });

  storeTest('Q6 conversations with something to send are given out, one after another', async (store) => {
    const conversation = { channel: 'telegram', chat: '1' };
    const sent: string[] = [];
    const serving = store.outbox.startWorker({
      channels: ['telegram'],
      concurrency: 4,
      async run(queue) {
        const row = await store.outbox.next(queue, now());
        if (row === undefined) return;
        await store.outbox.sending(row.key);
        sent.push(row.key);
        await store.outbox.sent(row.key, { id: row.key });
      },
    });
    const rows = ['a#0', 'a#1', 'a#2'].map((key) => ({ key, conversation, part: { markdown: key } }));
    await store.commit({ outbox: rows });
    await serving.idle();
    assert.deepEqual(sent, ['a#0', 'a#1', 'a#2']);
    await serving.stop();
  });

  storeTest('Q9 a signal reaches who listens for it until they stop', async (store) => {
    const heard: string[] = [];
    const first = Promise.withResolvers<void>();
    const second = Promise.withResolvers<void>();
    const off = store.signals.on('stop', (text) => {
      heard.push(text);
      first.resolve();
    });
    store.signals.on('reload', () => second.resolve());
    await store.signals.send('stop', 'telegram:1:1');
    await first.promise;
    off();
    await store.signals.send('stop', 'later');
    await store.signals.send('reload', '');
    await second.promise;
    assert.deepEqual(heard, ['telegram:1:1']);
  });

  storeTest('Q9 a process that is alone leads at once, and waits for nobody', async (store) => {
    const leads = await store.lead('polling', new AbortController().signal);
    assert.equal(leads.aborted, false);
    const over = new AbortController();
    over.abort(new Error('no more'));
    await assert.rejects(store.lead('other', over.signal), /no more/);
  });
}
