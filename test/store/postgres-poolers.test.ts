import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { OperatorError } from '../../src/core/errors.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeMessage } from '../support/make-message.ts';
import { noPooler, startPooler, type PoolMode } from '../support/pooler.ts';
import { noPostgres, startPostgres, type PostgresServer } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const server = await startPostgres();
const skip = server === undefined ? noPostgres : noPooler;
if (server === undefined || skip !== false) {
  test('Q10 a pooler that shares sessions is refused', { skip }, () => undefined);
} else {
  after(() => server.close());
  poolers(server);
}

/** Resolves when `to` hears `from`: a process that is only just connected misses what is said before. */
async function hears(to: Store, from: Store): Promise<void> {
  const heard = new AbortController();
  const forget = to.signals.on('reload', () => heard.abort());
  await until(async () => {
    await from.signals.send('reload', '');
    return heard.signal.aborted;
  });
  forget();
}

/** Both processes answer one message in each of so many conversations; returns what was answered. */
async function answered(stores: readonly Store[], count: number): Promise<readonly string[]> {
  const keys: string[] = [];
  for (let n = 0; n < count; n++) {
    const conversation = { channel: 'telegram', chat: String(n) };
    await stores[n % stores.length]?.inbox.accept(makeMessage({ id: `m${n}`, conversation }), {
      now: Date.now(),
    });
  }
  const serving = stores.map((store) =>
    store.inbox.startWorker({
      channels: ['telegram'],
      concurrency: 4,
      async run(queue) {
        const item = await store.inbox.take(queue, Date.now());
        if (item === undefined) return;
        await store.commit({ done: item.key });
        keys.push(item.key);
      },
    }),
  );
  await until(() => keys.length >= count);
  await Promise.all(serving.map((one) => one.stop()));
  return keys.sort();
}

function poolers(postgres: PostgresServer): void {
  const refused: readonly (readonly [PoolMode, boolean])[] = [
    ['transaction', false],
    ['transaction', true],
    ['statement', false],
    ['statement', true],
  ];
  for (const [mode, inTurn] of refused) {
    const how = inTurn ? ', sessions in turn' : '';
    test(`Q9 Q10 PgBouncer with pool_mode = ${mode}${how}: the start is refused with the fix, and nothing is written`, async (t) => {
      const url = await postgres.database();
      const pooler = await startPooler(url, mode, { inTurn });
      t.after(() => pooler.close());
      // Several sessions of the server are open and idle, as on a day of work.
      await Promise.all(Array.from({ length: 5 }, () => postgres.run(pooler.url, 'SELECT pg_sleep(0.05)')));
      for (const open of [
        () => openStore(pooler.url),
        () => openStore(pooler.url, { until: AbortSignal.timeout(60_000) }),
      ])
        await assert.rejects(
          async () => (await open()).close(),
          (error: unknown) => {
            assert.ok(error instanceof OperatorError, String(error));
            assert.match(error.message, /pooler that shares sessions.*Set pool_mode = session/);
            return true;
          },
        );
      const schemas = await postgres.run(url, `SELECT 1 FROM pg_namespace WHERE nspname LIKE 'skillet%'`);
      assert.deepEqual(schemas, []);
    });
  }

  test('Q9 Q10 PgBouncer with pool_mode = session: processes hear each other, elect one, take queues and hand over', async (t) => {
    const url = await postgres.database();
    const pooler = await startPooler(url, 'session');
    t.after(() => pooler.close());
    const [a, b] = await Promise.all([openStore(pooler.url), openStore(pooler.url)]);
    t.after(() => Promise.all([a.close(), b.close()]));
    await Promise.all([hears(a, b), hears(b, a)]);
    const over = new AbortController();
    const leading = await a.lead('polling', over.signal);
    const next = b.lead('polling', AbortSignal.timeout(60_000));
    over.abort();
    assert.ok(leading.aborted);
    assert.ok(!(await next).aborted);
    assert.deepEqual(await answered([a, b], 40), Array.from({ length: 40 }, (_, n) => `m${n}`).sort());
  });
}
