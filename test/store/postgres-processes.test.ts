import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeMessage } from '../support/make-message.ts';
import { noPostgres, startPostgres, type PostgresServer } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { startWorker } from '../support/worker-process.ts';

/** Within which a dead or hanging process's work is somebody else's. */
const takeoverMs = 30_000;

const server = await startPostgres();
if (server === undefined) {
  test('Q9 the work of a process that dies is taken over', { skip: noPostgres }, () => undefined);
} else {
  after(() => server.close());
  // Each waits for seconds, for another process to be given up: side by side.
  test('Q9 processes on one database stand in for each other', { concurrency: 6 }, async (context) => {
    await Promise.all(
      [...scenarios].map(([name, scenario]) => context.test(name, (inner) => scenario(inner, server))),
    );
  });
}

async function open(context: TestContext, url: string): Promise<Store> {
  const store = await openStore(url);
  context.after(() => store.close());
  return store;
}

/** Serves here, finishing everything at once; gives when an item was taken. */
function takes(context: TestContext, store: Store, key: string): Promise<void> {
  const taken = Promise.withResolvers<void>();
  const serving = store.inbox.startWorker({
    channels: ['telegram'],
    concurrency: 8,
    async run(queue) {
      const item = await store.inbox.take(queue, Date.now());
      if (item === undefined) return;
      await store.commit({ done: item.key });
      if (item.key === key) taken.resolve();
    },
  });
  context.after(() => serving.stop());
  return taken.promise;
}

/** The heartbeat of no queue ends. */
const foreverHeld = 'UPDATE skillet_jobs.job_common SET heartbeat_seconds = 3600';
const oldServer = `SELECT 1 WHERE pg_postmaster_start_time() < now() - interval '11 seconds'`;

function writtenDown(queue: string): string {
  return `SELECT id, seen_at FROM skillet.processes WHERE held @> '[{"queue": "${queue}"}]'`;
}

function sessionOf(id: unknown): string {
  return `locktype = 'advisory' AND mode = 'ShareLock' AND (classid::bigint << 32) | objid::bigint = ${String(id)}`;
}

const scenarios = new Map<string, (context: TestContext, server: PostgresServer) => Promise<void>>([
  [
    'Q9 a queue of a process that was killed goes on elsewhere within 30 seconds',
    async (context, { database }) => {
      const url = await database();
      const store = await open(context, url);
      const worker = await startWorker(context, url);
      worker.tell('serve');
      await store.inbox.accept(makeMessage({ id: 'k' }), { now: Date.now() });
      await worker.says('taken k');
      worker.signal('SIGKILL');
      const since = performance.now();
      await takes(context, store, 'k');
      const took = performance.now() - since;
      context.diagnostic(`taken over after ${Math.round(took)} ms`);
      assert.ok(took < takeoverMs, `taken over after ${took} ms only`);
    },
  ],
  [
    'Q9 a killed process is known by the end of its session, whatever its heartbeat says',
    async (context, { database, run }) => {
      const url = await database();
      const store = await open(context, url);
      const worker = await startWorker(context, url);
      worker.tell('serve');
      await store.inbox.accept(makeMessage({ id: 'k' }), { now: Date.now() });
      await worker.says('taken k');
      await until(async () => (await run(url, writtenDown('telegram:42'))).length > 0);
      await run(url, foreverHeld);
      worker.signal('SIGKILL');
      await takes(context, store, 'k');
    },
  ],
  [
    'Q9 a process that lives loses no queue while it stands still for some seconds, or when the server ends its session',
    async (context, { database, run }) => {
      const url = await database();
      const [store, worker] = [await open(context, url), await startWorker(context, url)];
      worker.tell('serve');
      await store.inbox.accept(makeMessage({ id: 'k' }), { now: Date.now() });
      await worker.says('taken k');
      await until(async () => (await run(url, writtenDown('telegram:42'))).length > 0);
      const here = Promise.withResolvers<void>();
      context.after(() => here.resolve());
      const serving = store.inbox.startWorker({
        channels: ['slack'],
        concurrency: 1,
        run: () => here.promise,
      });
      context.after(() => serving.stop());
      await store.inbox.accept(makeMessage({ id: 'h', conversation: { channel: 'slack', chat: 'C1' } }), {
        now: Date.now(),
      });
      await until(async () => (await run(url, writtenDown('slack:C1'))).length > 0);
      // Young servers are left alone.
      await until(async () => (await run(url, oldServer)).length > 0);
      await run(url, foreverHeld);
      worker.signal('SIGSTOP');
      await run(
        url,
        `UPDATE skillet.processes SET seen_at = 'epoch' WHERE held @> '[{"queue": "telegram:42"}]'`,
      );
      // This process says each time before it looks that it lives.
      for (let looks = 0; looks < 3; looks++) {
        const [{ seen_at: before } = {}] = await run(url, writtenDown('slack:C1'));
        await until(async () => {
          const [{ seen_at: now } = {}] = await run(url, writtenDown('slack:C1'));
          return String(now) !== String(before);
        });
      }
      worker.signal('SIGCONT');
      const [before] = await run(url, writtenDown('telegram:42'));
      await run(url, `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE ${sessionOf(before?.['id'])}`);
      await until(
        async () => (await run(url, `SELECT 1 FROM pg_locks WHERE ${sessionOf(before?.['id'])}`)).length > 0,
      );
      worker.tell('finish k');
      assert.equal(await Promise.race([worker.says('done k'), worker.says('refused k')]), 'done k');
    },
  ],
  [
    'Q9 a process that hangs loses its queue within 30 seconds, and what it writes late is refused',
    async (context, { database, run }) => {
      const url = await database();
      const store = await open(context, url);
      const worker = await startWorker(context, url);
      worker.tell('serve');
      await store.inbox.accept(makeMessage({ id: 'k' }), { now: Date.now() });
      await worker.says('taken k');
      worker.signal('SIGSTOP');
      const since = performance.now();
      await takes(context, store, 'k');
      const took = performance.now() - since;
      context.diagnostic(`taken over after ${Math.round(took)} ms`);
      assert.ok(took < takeoverMs, `taken over after ${took} ms only`);
      const before = await run(url, 'SELECT finished_at FROM skillet.inbox');
      worker.tell('finish k');
      worker.signal('SIGCONT');
      assert.match(await worker.says('refused k'), /lost to another process: nothing was written/);
      await worker.says('lost telegram:42');
      assert.deepEqual(await run(url, 'SELECT finished_at FROM skillet.inbox'), before);
    },
  ],
  [
    'Q9 a process that lives keeps its queue however long it takes',
    async (context, { database }) => {
      const url = await database();
      const store = await open(context, url);
      const dying = await startWorker(context, url);
      dying.tell('serve');
      const message = makeMessage({ id: 'other', conversation: { channel: 'telegram', chat: '7' } });
      await store.inbox.accept(message, { now: Date.now() });
      await dying.says('taken other');
      dying.signal('SIGKILL');
      const worker = await startWorker(context, url);
      worker.tell('serve');
      await store.inbox.accept(makeMessage({ id: 'slow' }), { now: Date.now() });
      await worker.says('taken slow');
      // That takes longer than any queue is kept without a sign of life.
      await worker.says('taken other');
      worker.tell('finish slow');
      assert.equal(await worker.says('done slow'), 'done slow');
    },
  ],
  [
    'Q9 who leads hands over at once when it dies, and within 30 seconds when it hangs; then it leads no more',
    async (context, { database }) => {
      const url = await database();
      const store = await open(context, url);
      const first = await startWorker(context, url);
      first.tell('lead polling');
      await first.says('leads polling');
      const second = await startWorker(context, url);
      second.tell('lead polling');
      first.signal('SIGKILL');
      await second.says('leads polling');
      second.signal('SIGSTOP');
      const since = performance.now();
      const leading = await store.lead('polling', new AbortController().signal);
      const took = performance.now() - since;
      context.diagnostic(`leads after ${Math.round(took)} ms`);
      assert.ok(took < takeoverMs, `leads after ${took} ms only`);
      assert.equal(leading.aborted, false);
      second.signal('SIGCONT');
      await second.says('leads polling no more');
    },
  ],
]);
