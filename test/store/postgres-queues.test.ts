import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import pg from 'pg';
import { systemClock } from '../../src/lib/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeMessage } from '../support/make-message.ts';
import { withinMachineTime } from '../support/machine-time.ts';
import { noPostgres, startPostgres, type PostgresServer } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';
import { until } from '../support/until.ts';
import { workFor } from '../support/uses-contract.ts';

const runs = Math.max(1, Math.round(Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200) / 100));
const never = new AbortController().signal;

const server = await startPostgres();
if (server === undefined) {
  test(
    'Q9 a queue is given to one taker at a time, whichever store it asks',
    { skip: noPostgres },
    () => undefined,
  );
} else {
  after(() => server.close());
  queues(server);
  together(server);
  plans(server);
}

async function pair(context: TestContext, url: string): Promise<readonly [Store, Store]> {
  const stores = [await openStore(url), await openStore(url)] as const;
  context.after(() => Promise.all(stores.map((store) => store.close())));
  return stores;
}

/** Resolves when what `here` says reaches `there`: a store that was just opened may not be connected to the others yet. */
async function connected(here: Store, there: Store): Promise<void> {
  const heard = Promise.withResolvers<void>();
  const off = there.signals.on('answer', () => heard.resolve());
  const knock = setInterval(() => void here.signals.send('answer', ''), 50);
  await heard.promise;
  clearInterval(knock);
  off();
}

/** What a taker does with an item, until it is done. */
type Try = 'done' | 'failed' | 'put off' | 'thrown';
type Plan = Readonly<{ chat: number; by: 0 | 1; tries: readonly Try[] }>;

const plan: fc.Arbitrary<Plan> = fc.record({
  chat: fc.nat(11),
  by: fc.constantFrom(0, 1),
  tries: fc
    .array(fc.constantFrom<Try>('failed', 'put off', 'done', 'done', 'done', 'done', 'done', 'thrown'), {
      maxLength: 2,
    })
    .map((tries) => [...tries.filter((one) => one !== 'done'), 'done' as const]),
});

function queues({ database, run }: PostgresServer): void {
  test('U10 two processes that add work at one moment see each other’s', async (context) => {
    const stores = await pair(context, await database());
    const each = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        stores[n % 2]!.addWork(workFor(`run${n}`), (beside) => (beside.length < 2 ? undefined : 'full')),
      ),
    );
    assert.equal(each.filter((refused) => refused === undefined).length, 2);
    assert.equal((await stores[0].inbox.beside()).length, 2);
  });

  test('Q9 a queue is given to one taker at a time and its items in order, whichever store it asks', async (context) => {
    const url = await database();
    const stores = await pair(context, url);
    const property = fc.asyncProperty(fc.array(plan, { minLength: 60, maxLength: 60 }), async (plans) => {
      const held = new Set<string>();
      const taken: string[] = [];
      const done = new Map<string, number[]>();
      const tries = new Map(plans.map(({ tries: planned }, n) => [String(n), [...planned]]));
      const all = Promise.withResolvers<void>();
      const serve = (store: Store) =>
        store.inbox.startWorker({
          channels: ['telegram'],
          concurrency: 3,
          async run(queue) {
            assert.ok(!held.has(queue), `${queue} was given to two takers`);
            held.add(queue);
            try {
              const item = await store.inbox.take(queue, Date.now());
              if (item === undefined) return;
              taken.push(queue);
              const next = tries.get(item.key)?.shift();
              if (next === 'failed') await store.inbox.fail(item.key, 'no', Date.now() + 20);
              if (next === 'put off') await store.inbox.postpone(item.key, 'later', Date.now() + 20);
              if (next === 'thrown') throw new Error('thrown on purpose');
              if (next !== 'done') return;
              await store.commit({ done: item.key });
              const before = done.get(queue) ?? [];
              done.set(queue, [...before, Number(item.key)]);
              if ([...done.values()].flat().length === plans.length) all.resolve();
            } catch (error) {
              if (!(error instanceof Error && error.message === 'thrown on purpose')) all.reject(error);
              throw error;
            } finally {
              held.delete(queue);
            }
          },
        });
      const servings = stores.map(serve);
      for (const [n, { chat, by }] of plans.entries()) {
        const conversation = { channel: 'telegram', chat: String(chat) };
        const outcome = await stores[by].inbox.accept(makeMessage({ id: String(n), conversation }), {
          now: Date.now(),
        });
        assert.equal(outcome, 'stored');
      }
      await all.promise;
      await Promise.all(servings.map((serving) => serving.idle()));
      await Promise.all(servings.map((serving) => serving.stop()));
      for (const [queue, keys] of done)
        assert.deepEqual(
          keys,
          keys.toSorted((a, b) => a - b),
          queue,
        );
      assert.deepEqual(
        await run(url, `SELECT count(*)::int AS jobs FROM skillet_jobs.job WHERE state <= 'active'`),
        [{ jobs: 0 }],
        'a queue that is empty keeps a job',
      );
      await run(url, 'TRUNCATE skillet.inbox, skillet.inbox_keys');
    });
    await fc.assert(property, { numRuns: runs });
  });

  test('Q2 messages that reach two stores at one instant, twins and retries, are stored once', async (context) => {
    const stores = await pair(context, await database());
    const messages = Array.from({ length: 200 }, (_, n) => {
      const conversation = { channel: 'slack', chat: `C${n % 10}` };
      return makeMessage({ id: `slack:${n}`, conversation, chatType: n % 2 ? 'group' : 'unknown' });
    });
    const outcomes = await Promise.all(
      messages.flatMap((message, n) =>
        [message, { ...message, chatType: n % 2 ? ('unknown' as const) : ('group' as const) }, message].map(
          (twin, at) => stores[at === 1 ? 1 : 0].inbox.accept(twin, { now: 1 }),
        ),
      ),
    );
    assert.equal(outcomes.filter((outcome) => outcome === 'stored').length, 200);
    const waiting = await stores[0].inbox.list('waiting');
    assert.equal(waiting.length, 200);
    assert.ok(waiting.every(({ message }) => message?.chatType === 'group'));
  });

  test('Q9 work that one store writes is done by another at once', async (context) => {
    const [here, there] = await pair(context, await database());
    const conversation = { channel: 'telegram', chat: '1' };
    const sent = Promise.withResolvers<void>();
    const serving = there.outbox.startWorker({
      channels: ['telegram'],
      concurrency: 1,
      async run(queue) {
        const row = await there.outbox.next(queue, Date.now());
        if (row === undefined) return;
        await there.outbox.sending(row.key);
        await there.outbox.sent(row.key, { id: '1' });
        sent.resolve();
      },
    });
    await serving.idle();
    await connected(here, there);
    await here.commit({ outbox: [{ key: 'a#0', conversation, part: { markdown: 'x' } }] });
    // Where it was not told, the other store looks every five seconds.
    await withinMachineTime('telling the other store', 3_000, sent.promise);
    await serving.stop();
  });

  test('Q9 a queue whose item is put off by hand or by failing is due when its next item is', async (context) => {
    const [here, there] = await pair(context, await database());
    for (const id of ['a', 'b']) await here.inbox.accept(makeMessage({ id }), { now: Date.now() });
    const seen: string[] = [];
    const last = Promise.withResolvers<void>();
    const put = Promise.withResolvers<void>();
    const serving = here.inbox.startWorker({
      channels: ['telegram'],
      concurrency: 1,
      async run(queue) {
        const item = await here.inbox.take(queue, Date.now());
        if (item === undefined) return;
        seen.push(item.key);
        if (item.key === 'a') {
          await here.inbox.postpone('a', 'in an hour', Date.now() + 3_600_000);
          put.resolve();
        } else {
          await here.commit({ done: item.key });
          last.resolve();
        }
      },
    });
    await put.promise;
    await serving.idle();
    assert.equal(await there.inbox.drop('a'), true);
    await last.promise;
    assert.deepEqual(seen, ['a', 'b']);
    await serving.stop();
  });

  test('Q3 a clock that is set back an hour makes nothing wait for the old time', async (context) => {
    const shift = { ms: 0 };
    const clock = { now: () => Date.now() + shift.ms, sleep: systemClock.sleep };
    const store = await openStore(await database(), { clock });
    context.after(() => store.close());
    const given = Promise.withResolvers<void>();
    await store.inbox.accept(makeMessage({ id: 'k' }), { now: clock.now() });
    await store.inbox.take('telegram:42', clock.now());
    await store.inbox.postpone('k', 'no answer', clock.now() + 1_000);
    const serving = store.inbox.startWorker({
      channels: ['telegram'],
      concurrency: 1,
      async run(queue) {
        const item = await store.inbox.take(queue, clock.now());
        if (item === undefined) return;
        await store.commit({ done: item.key });
        given.resolve();
      },
    });
    shift.ms = -3_600_000;
    await given.promise;
    await serving.stop();
  });

  test('Q3 Q9 a person with many conversations keeps nobody waiting, whichever store accepts and answers', async (context) => {
    const url = await database();
    const stores = await pair(context, url);
    const [here, there] = stores;
    const say = async (store: Store, person: string, id: string): Promise<void> => {
      const message = makeMessage({
        id,
        sender: { id: `telegram:${person}`, name: person, kind: 'person' },
        conversation: { channel: 'telegram', chat: 'team', thread: id },
      });
      assert.equal(await store.inbox.accept(message, { now: Date.now() }), 'stored');
    };
    for (let n = 1; n <= 20; n++)
      await Promise.all([say(here, 'ann', `ann${n}`), say(there, 'ann', `more${n}`)]);
    // One process is free at a time, so that items start in the order in which they were assigned.
    const held: (() => void)[] = [];
    const steps = 8;
    const started: string[] = [];
    const servings = stores.map((store) =>
      store.inbox.startWorker({
        channels: ['telegram'],
        concurrency: 1,
        async run(queue) {
          const item = await store.inbox.take(queue, Date.now());
          if (item === undefined) return;
          if (started.push(item.key) <= steps) await new Promise<void>((resolve) => void held.push(resolve));
          if (item.key === 'ann20') await store.inbox.fail(item.key, 'poison', undefined);
          else await store.commit({ done: item.key });
        },
      }),
    );
    await until(() => started.length === 2);
    await say(there, 'bob', 'bob1');
    await say(here, 'cid', 'cid1');
    for (let next = 3; next <= steps; next++) {
      held.shift()?.();
      await until(() => started.length === next);
    }
    for (const key of ['bob1', 'cid1']) assert.ok(started.includes(key), started.join(' '));
    for (const goOn of held) goOn();
    await Promise.all(servings.map((serving) => serving.idle()));
    await Promise.all(servings.map((serving) => serving.stop()));
    assert.equal(started.length, 42);
    assert.deepEqual(
      await run(url, 'SELECT count(*)::int AS named FROM skillet.inbox WHERE person IS NOT NULL'),
      [{ named: 0 }],
      'what ended still names its sender',
    );
  });

  test('Q7 a store that is closed while a queue is held does not wait for it, and the queue is free', async (context) => {
    const url = await database();
    const closing = await openStore(url);
    await closing.inbox.accept(makeMessage({ id: 'k' }), { now: Date.now() });
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<AbortSignal>();
    const serving = closing.inbox.startWorker({
      channels: ['telegram'],
      concurrency: 1,
      async run(_queue, lost) {
        begun.resolve(lost);
        await gate.promise;
      },
    });
    const lost = await begun.promise;
    await closing.close();
    assert.equal(lost.aborted, true);
    gate.resolve();
    await serving.stop();
    const [here] = await pair(context, url);
    assert.equal((await here.inbox.take('telegram:42', Date.now()))?.key, 'k');
  });

  test('Q9 a store all of whose connections wait for a locked table still keeps its queues', async (context) => {
    const url = await database();
    const [store] = await pair(context, url);
    await store.inbox.accept(makeMessage({ id: 'k' }), { now: Date.now() });
    const begun = Promise.withResolvers<AbortSignal>();
    const gate = Promise.withResolvers<void>();
    const serving = store.inbox.startWorker({
      channels: ['telegram'],
      concurrency: 1,
      async run(_queue, lost) {
        begun.resolve(lost);
        await gate.promise;
        await store.inbox.drop('k');
      },
    });
    const lost = await begun.promise;
    const other = new pg.Client(url);
    await other.connect();
    context.after(() => other.end());
    await other.query('BEGIN; LOCK TABLE skillet.keyed');
    const writes = Array.from({ length: 20 }, (_, n) => store.keyed('test').set(`key${n}`, n));
    const sign = 'SELECT heartbeat_on FROM skillet_jobs.job_common WHERE heartbeat_on IS NOT NULL';
    const first = await run(url, sign);
    const again = until(async () => !isDeepStrictEqual(await run(url, sign), first));
    await withinMachineTime('the next sign of life', 8_000, again);
    await other.query('COMMIT');
    await Promise.all(writes);
    gate.resolve();
    await serving.idle();
    assert.equal(lost.aborted, false);
    await serving.stop();
  });

  test('Q9 a queue that has work and no job is found when a store is opened', async (context) => {
    const url = await database();
    const [here] = await pair(context, url);
    await here.inbox.accept(makeMessage({ id: 'k' }), { now: Date.now() });
    await run(url, 'TRUNCATE skillet_jobs.job_common');
    const third = await openStore(url);
    context.after(() => third.close());
    const taken = Promise.withResolvers<void>();
    const serving = here.inbox.startWorker({
      channels: ['telegram'],
      concurrency: 1,
      async run(queue) {
        const item = await here.inbox.take(queue, Date.now());
        if (item === undefined) return;
        await here.commit({ done: item.key });
        taken.resolve();
      },
    });
    await taken.promise;
    await serving.stop();
  });
}

function together({ database, run }: PostgresServer): void {
  test('Q9 a signal reaches every store once, the one that sent it too', async (context) => {
    const [here, there] = await pair(context, await database());
    const heard: string[] = [];
    const last = { here: Promise.withResolvers<void>(), there: Promise.withResolvers<void>() };
    for (const [name, store] of Object.entries({ here, there })) {
      store.signals.on('stop', (text) => {
        heard.push(`${name}: ${text.slice(0, 4)}`);
        if (text === 'last') last[name as 'here' | 'there'].resolve();
      });
      store.signals.on('reload', () => heard.push('reload'));
    }
    await connected(here, there);
    await here.signals.send('stop', `'"${'ä'.repeat(3_400)}`);
    await here.signals.send('stop', 'last');
    await Promise.all([last.here.promise, last.there.promise]);
    assert.deepEqual(heard.sort(), [`here: '"ää`, 'here: last', `there: '"ää`, 'there: last'].sort());
  });

  test('Q9 one store leads, another does when it ends', async (context) => {
    const [here, there] = await pair(context, await database());
    const over = new AbortController();
    const leading = await here.lead('polling', over.signal);
    const waiting = new AbortController();
    const refused = there.lead('polling', waiting.signal);
    waiting.abort(new Error('waited enough'));
    await assert.rejects(refused, /waited enough/);
    const next = there.lead('polling', never);
    assert.equal((await there.lead('something else', never)).aborted, false);
    assert.equal(leading.aborted, false);
    over.abort(new Error('no more'));
    assert.equal((await next).aborted, false);
    assert.equal(leading.aborted, true);
  });

  test('Q9 whoever waits to lead waits outside of any statement, so that the server can clear away what was deleted', async (context) => {
    const url = await database();
    const [here, there] = await pair(context, url);
    const over = new AbortController();
    await here.lead('polling', over.signal);
    const next = there.lead('polling', never);
    const idle = async () =>
      (
        await run(
          url,
          `SELECT 1 FROM pg_stat_activity WHERE application_name = 'skillet lead' AND state = 'idle'
             AND backend_xmin IS NULL AND datname = current_database()`,
        )
      ).length;
    await until(async () => (await idle()) === 2);
    over.abort(new Error('no more'));
    assert.equal((await next).aborted, false);
  });

  test('H8 uses that are counted in two stores share one limit', async (context) => {
    const [here, there] = await pair(context, await database());
    // Windows so long that what these lines take is nothing.
    const minute = 60_000;
    const burst = { key: 'telegram:chat:1', count: 3, ms: 10 * minute };
    const waits: number[] = [];
    for (const store of [here, there, here, there, here]) waits.push(await store.reserve([burst]));
    assert.deepEqual(waits.slice(0, 3), [0, 0, 0]);
    const [fourth = 0, fifth = 0] = waits.slice(3);
    assert.ok(fourth > 9 * minute && fourth <= 10 * minute, `the fourth waits ${fourth} ms`);
    assert.ok(fifth > 19 * minute && fifth <= 20 * minute, `the fifth waits ${fifth} ms`);
    const other = { key: 'telegram', count: 30, ms: minute };
    assert.equal(await there.reserve([other]), 0);
    assert.ok((await there.reserve([other, burst])) > 28 * minute, 'the strictest of several limits counts');
    assert.equal(await here.reserve([]), 0);
    const many = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        (n % 2 ? here : there).reserve([{ key: 'p', count: 1, ms: minute }, other]),
      ),
    );
    assert.equal(many.filter((wait) => wait === 0).length, 1, 'uses at one instant are all counted');
  });

  test('Q10 stores that are opened together on an empty database do not disturb each other', async (context) => {
    const url = await database();
    const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(url)));
    context.after(() => Promise.all(stores.map((store) => store.close())));
    await Promise.all(stores.map((store, n) => store.inbox.accept(makeMessage({ id: `k${n}` }), { now: 1 })));
    assert.equal((await stores[0]?.inbox.list('waiting'))?.length, 4);
  });

  test('Q10 a database of a newer version or of another program is refused and stays as it was', async () => {
    const url = await database();
    await (await openStore(url)).close();
    await run(url, 'UPDATE skillet.schema_version SET version = 999, readable_from = 998');
    await assert.rejects(openStore(url), {
      name: 'OperatorError',
      message:
        /newer Skillet: its schema has version 999, which needs a Skillet that knows 998\. This one knows \d+\. Start the newer/,
    });
    const foreign = await database();
    await run(foreign, 'CREATE SCHEMA skillet; CREATE TABLE skillet.pans (id int)');
    await assert.rejects(openStore(foreign), { name: 'OperatorError', message: /of another program/ });
    const preview = await database();
    await run(preview, 'CREATE SCHEMA skillet; CREATE TABLE skillet.version (version integer)');
    const refused = { name: 'OperatorError', message: /from before its first release.* remove the schemas/ };
    await assert.rejects(openStore(preview), refused);
    assert.deepEqual(
      await run(foreign, `SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname LIKE 'skillet%'`),
      [{ tables: 1 }],
    );
  });

  test('S3 a database that can not be used is said without its address, user or password', async () => {
    const log = quietLog();
    const place = new URL(await database());
    const urls = [
      `postgres://ann:hunter2@nowhere.invalid:5999/skillet`,
      `postgres://ann:hunter2@127.0.0.1:1/skillet`,
      `postgres://ann:hunter2@localhost/none?host=${place.searchParams.get('host')}`,
      'postgres://ann:hunter2@[bad/skillet',
    ];
    for (const url of urls) {
      await assert.rejects(openStore(url, { log }), (error: Error) => {
        assert.equal(error.name, 'OperatorError');
        const shown = `${error.message} ${JSON.stringify(log.lines)} ${String(error.stack)} ${String(error.cause)}`;
        assert.doesNotMatch(shown, /hunter2|nowhere|127\.0\.0\.1|\bann\b/);
        assert.match(error.message, /\[store\]/);
        return true;
      });
    }
  });

  test('Q10 a backup is left to the tools of PostgreSQL', async (context) => {
    const [store] = await pair(context, await database());
    assert.equal(await store.backup('/tmp/x'), false);
  });
}

function plans({ database, run }: PostgresServer): void {
  test('B2 Q8 what waits in a queue is found by the queue, also where the server has only seen a store without waiting messages', async () => {
    const url = await database();
    await (await openStore(url)).close();
    await run(
      url,
      `INSERT INTO skillet.inbox (key, queue, parts, status, due_at, accepted_at, finished_at)
         SELECT 'k' || n, 'l' || n, '', 'done', 0, 0, 0 FROM generate_series(1, 2000) AS n`,
    );
    await run(url, 'VACUUM ANALYZE skillet.inbox');
    const head = `SELECT due_at FROM skillet.inbox WHERE status = 'waiting' AND queue = 'l1' ORDER BY seq LIMIT 1`;
    const plan = await run(url, `EXPLAIN ${head}`);
    assert.match(
      plan.map((row) => row['QUERY PLAN']).join('\n'),
      /inbox_queues.*\n.*Index Cond: \(queue = 'l1'/,
    );
  });
}
