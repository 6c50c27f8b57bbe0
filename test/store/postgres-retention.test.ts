import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import pg from 'pg';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeMessage } from '../support/make-message.ts';
import { noPostgres, startPostgres, type PostgresServer } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const server = await startPostgres();
if (server === undefined) {
  test('Q12 what is said while others are removed stays whole', { skip: noPostgres }, () => undefined);
} else {
  after(() => server.close());
  retention(server);
}

const oldest = 1;
const old = 2;
const now = 100;
const keptMs = 50;

function write(store: Store, transcript: string, at: number): Promise<void> {
  return store.commit({ entries: [{ transcript, entry: { kind: 'notice', text: 'x', at } }] });
}

async function lengthOf(store: Store, transcript: string): Promise<number> {
  return (await store.transcripts.read(transcript)).entries.length;
}

function retention({ database, run }: PostgresServer): void {
  /** How many statements wait for a lock. */
  async function waiting(url: string): Promise<number> {
    const [row] = await run(
      url,
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return Number(row?.['n']);
  }

  /** Locks rows, given by what follows SELECT, until it is called. */
  async function hold(t: TestContext, url: string, rows: string): Promise<() => Promise<unknown>> {
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    t.after(() => holder.end());
    await holder.query(`BEGIN; SELECT ${rows} FOR UPDATE`);
    return () => holder.query('COMMIT');
  }

  /** Starts to remove what is old and stops at this conversation until `goOn`. */
  async function pruneUpTo(t: TestContext, url: string, store: Store, transcript: string) {
    const release = await hold(t, url, `FROM skillet.transcript_times WHERE transcript = '${transcript}'`);
    const pruning = store.prune(now, keptMs);
    await until(async () => (await waiting(url)) === 1);
    return {
      async goOn(): Promise<void> {
        await release();
        await pruning;
      },
    };
  }

  async function open(t: TestContext): Promise<readonly [string, Store]> {
    const url = await database();
    const store = await openStore(url);
    t.after(() => store.close());
    return [url, store];
  }

  test('Q12 what is said while older conversations are removed keeps its own whole', async (t) => {
    const [url, store] = await open(t);
    await write(store, 'telegram:1', oldest);
    await write(store, 'telegram:2', old);
    await write(store, 'telegram:3', old);
    // All three were found to be old by now.
    const pruning = await pruneUpTo(t, url, store, 'telegram:1');
    await write(store, 'telegram:3', now);
    await pruning.goOn();
    const left = ['telegram:1', 'telegram:2', 'telegram:3'].map((id) => lengthOf(store, id));
    assert.deepEqual(await Promise.all(left), [0, 0, 2]);
  });

  test('Q12 a message that arrives while its conversation is removed is answered in the one that follows', async (t) => {
    const [url, store] = await open(t);
    const key = 'telegram:42';
    await store.transcripts.archive(key);
    const before = await store.transcripts.current(key);
    await write(store, before, old);
    const pruning = await pruneUpTo(t, url, store, before);
    const state = { accepted: false };
    const current = store.inbox.accept(makeMessage(), { now }).then(() => {
      state.accepted = true;
      return store.transcripts.current(key);
    });
    await until(async () => state.accepted || (await waiting(url)) === 2);
    // What is accepted by now has its turn: it knows where it writes.
    if (state.accepted) await current;
    await pruning.goOn();
    const used = await current;
    await write(store, used, now);
    assert.equal(await store.transcripts.current(key), used);
    assert.equal(await lengthOf(store, used), 1);
  });

  test('Q12 a person is forgotten while retention removes the same conversation', async (t) => {
    const [url, store] = await open(t);
    const key = 'telegram:42';
    const entry = { kind: 'user', sender: key, content: 'x', at: old } as const;
    await store.commit({ entries: Array.from({ length: 200 }, () => ({ transcript: key, entry })) });
    const release = await hold(
      t,
      url,
      'FROM skillet.entries WHERE seq = (SELECT (min(seq) + max(seq)) / 2 FROM skillet.entries)',
    );
    const forgetting = store.forget(key);
    await until(async () => (await waiting(url)) === 1);
    const pruning = store.prune(now, keptMs);
    await until(async () => (await waiting(url)) === 2);
    await release();
    await Promise.all([forgetting, pruning]);
    assert.equal(await lengthOf(store, key), 0);
  });
}
