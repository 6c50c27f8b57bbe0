import assert from 'node:assert/strict';
import type { Entry } from '../../src/core/entry.ts';
import type { Store } from '../../src/store/store.ts';
import { makeMessage } from './make-message.ts';
import type { StoreTest } from './store-contract.ts';

const day = 24 * 60 * 60_000;
const now = Date.now();
const retention = 90 * day;

const notice = (text: string, at: number): Entry => ({ kind: 'notice', text, at });

async function write(store: Store, transcript: string, ...ats: readonly number[]): Promise<void> {
  const entries = ats.map((at) => ({ transcript, entry: notice(String(at), at) }));
  await store.commit({ entries });
}

async function lengthOf(store: Store, transcript: string): Promise<number> {
  return (await store.transcripts.read(transcript)).entries.length;
}

/** What every store lets go of when its time is over (Q12), and what it keeps. */
export function retentionContract(storeTest: StoreTest): void {
  storeTest(
    'Q12 a conversation without a new entry for the whole retention is removed, one with any stays whole',
    async (store) => {
      await write(store, 'telegram:1', now - 200 * day, now - 91 * day);
      await write(store, 'telegram:1#run:a', now - 91 * day);
      await write(store, 'telegram:2', now - 200 * day, now - 90 * day);
      await write(store, 'telegram:2#run:b', now - 89 * day);
      await store.prune(now, retention);
      assert.equal(await lengthOf(store, 'telegram:1'), 0);
      assert.equal(await lengthOf(store, 'telegram:1#run:a'), 0);
      assert.equal(await lengthOf(store, 'telegram:2'), 2);
      assert.equal(await lengthOf(store, 'telegram:2#run:b'), 1);
      await write(store, 'telegram:1', now);
      assert.equal(await lengthOf(store, 'telegram:1'), 1, 'the conversation can begin again');
    },
  );

  storeTest('Q12 an archived transcript ends by its own age, the one in use by its own', async (store) => {
    const key = 'telegram:1';
    await write(store, key, now - 100 * day);
    await store.transcripts.archive(key);
    const second = await store.transcripts.current(key);
    await write(store, second, now - 95 * day);
    await store.transcripts.archive(key);
    const third = await store.transcripts.current(key);
    await write(store, third, now - day);
    await store.prune(now, retention);
    assert.deepEqual([await lengthOf(store, key), await lengthOf(store, second)], [0, 0]);
    assert.equal(await store.transcripts.current(key), third);
    assert.equal(await lengthOf(store, third), 1);
    await store.prune(now + 100 * day, retention);
    assert.equal(await store.transcripts.current(key), key, 'no id of an archived one is left');
    assert.equal(await lengthOf(store, await store.transcripts.current(key)), 0);
  });

  storeTest('Q12 a conversation longer than one batch is removed whole', async (store) => {
    for (let n = 0; n < 6; n++) {
      await write(store, 'telegram:1', ...Array.from({ length: 200 }, () => now - 91 * day));
    }
    await store.prune(now, retention);
    assert.equal(await lengthOf(store, 'telegram:1'), 0);
  });

  storeTest('Q12 a conversation in which a message waits stays whole until that is done', async (store) => {
    const message = makeMessage({ id: 'back again' });
    const key = 'telegram:42';
    await write(store, key, now - 300 * day);
    await store.transcripts.archive(key);
    const current = await store.transcripts.current(key);
    await write(store, current, now - 200 * day);
    // More than are looked at together, and all before what may go.
    const runs = Array.from({ length: 120 }, (_, n) => `${current}#run:${n}`);
    for (const run of runs) await write(store, run, now - 200 * day);
    await write(store, 'telegram:421', now - 150 * day);
    await write(store, 'telegram:43', now - 100 * day);
    await store.inbox.accept(message, { now });
    const beside = { queue: 'telegram:43~run', message: makeMessage({ id: 'beside' }) };
    await store.commit({ work: [beside] });
    const lengths = () =>
      Promise.all([key, current, ...runs, 'telegram:43', 'telegram:421'].map((id) => lengthOf(store, id)));
    await store.prune(now, retention);
    assert.deepEqual(await lengths(), [...Array.from({ length: 123 }, () => 1), 0]);
    assert.equal(await store.transcripts.current(key), current);
    await store.commit({ done: message.id });
    await store.commit({ done: 'beside' });
    await store.prune(now, retention);
    assert.deepEqual(new Set(await lengths()), new Set([0]));
    assert.equal(await store.transcripts.current(key), key);
  });

  storeTest('Q12 no archived conversation comes back, and no id of one is left at the end', async (store) => {
    const key = 'telegram:1';
    await write(store, key, now - 80 * day);
    await store.transcripts.archive(key);
    const second = await store.transcripts.current(key);
    // Older than the first: a clock was set back.
    await write(store, second, now - 100 * day);
    await store.prune(now, retention);
    assert.equal(await lengthOf(store, second), 0);
    assert.equal(await store.transcripts.current(key), second);
    await store.transcripts.archive(key);
    await store.prune(now + 20 * day, retention);
    assert.equal(await store.transcripts.current(key), key, 'the last one had no entry');
  });

  storeTest('Q12 U10 uses that are counted against limits are kept for a day', async (store) => {
    const count = (id: string) => store.countUse(id, [{ key: 'k', most: 1, ms: 30 * day }]);
    assert.equal(await count('a'), undefined);
    assert.equal((await count('b'))?.key, 'k');
    await store.prune(Date.now() + day - 60_000, retention);
    assert.equal((await count('b'))?.key, 'k');
    await store.prune(Date.now() + day + 60_000, retention);
    assert.equal(await count('b'), undefined);
  });

  storeTest('Q12 dead items and usage end with the retention, waiting ones never', async (store) => {
    const accept = (id: string, at: number) => store.inbox.accept(makeMessage({ id }), { now: at });
    await accept('old', now - 91 * day);
    await accept('newer', now - 90 * day);
    await accept('waits', now - 200 * day);
    await store.inbox.fail('old', 'poison', undefined);
    await store.inbox.fail('newer', 'poison', undefined);
    const tokens = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
    const use = { sender: 'telegram:42', conversation: 'telegram:42', skill: '', model: 'm', tokens };
    const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
    await store.commit({
      usage: [92, 91, 90, 89, 0].map((days) => ({ ...use, day: dayOf(now - days * day) })),
      runs: [91, 90].map((days) => ({
        ...{ ...use, id: `r${days}`, day: dayOf(now - days * day), steps: 1, failed: false, at: 1 },
      })),
    });
    await store.prune(now, retention);
    assert.deepEqual(
      (await store.inbox.list('dead')).map(({ key }) => key),
      ['newer'],
    );
    assert.deepEqual(
      (await store.inbox.list('waiting')).map(({ key }) => key),
      ['waits'],
    );
    assert.deepEqual(
      (await store.usage({})).map((row) => row.day),
      [dayOf(now - 90 * day), dayOf(now - 89 * day), dayOf(now)],
      'the day at the border stays whole',
    );
    assert.deepEqual(
      (await store.stats('')).map(({ runs }) => runs),
      [1, 0, 0],
    );
  });

  storeTest(
    'Q12 settled asks and what was shown for rows that never came end after 7 days',
    async (store) => {
      const ask = (id: string) =>
        store.pendingRequests.add({
          id,
          kind: 'approval',
          conversation: { channel: 'telegram', chat: '42' },
          requester: 'telegram:42',
          transcript: 'telegram:42',
          toolUseId: 't',
          payload: {},
          askedAt: now,
          expiresAt: now + 365 * day,
        });
      await ask('settled');
      await ask('open');
      await store.pendingRequests.answer('settled', { by: 'telegram:42', value: 'yes', at: now });
      await store.outbox.show('k#0', { id: '17' });
      await store.prune(now + 6 * day, retention);
      assert.equal((await store.pendingRequests.find('settled'))?.state, 'answered');
      assert.deepEqual(await store.outbox.shown('k#0'), { id: '17' });
      await store.prune(Date.now() + 8 * day, retention);
      assert.equal(await store.pendingRequests.find('settled'), undefined);
      assert.equal((await store.pendingRequests.find('open'))?.state, 'open');
      assert.equal(await store.outbox.shown('k#0'), undefined);
    },
  );
}
