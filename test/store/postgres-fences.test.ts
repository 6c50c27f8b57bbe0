import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeMessage } from '../support/make-message.ts';
import { noPostgres, startPostgres, type PostgresServer } from '../support/postgres.ts';

/** How a queue is lost while its holder stands still. */
const losses = {
  'another process claimed it': 'UPDATE skillet_jobs.job_common SET retry_count = retry_count + 1',
  'it was given back': `UPDATE skillet_jobs.job_common SET state = 'created'`,
  'the server forgot it': 'DELETE FROM skillet.epoch',
} as const;

const message = makeMessage();
const { conversation } = message;

const isLost = /was lost to another process: nothing was written/;

const server = await startPostgres();
if (server === undefined) {
  test('Q9 who lost a queue writes nothing more for it', { skip: noPostgres }, () => undefined);
} else {
  after(() => server.close());
  fences(server);
}

/** Works once in the queue of a conversation. */
async function inQueue(
  t: TestContext,
  store: Store,
  kind: 'inbox' | 'outbox',
  work: (queue: string) => Promise<void>,
): Promise<void> {
  const worked = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  let begun = false;
  const serving = store[kind].startWorker({
    channels: ['telegram'],
    concurrency: 1,
    async run(queue) {
      // It is given out again as soon as it was lost.
      if (begun) return over.promise;
      begun = true;
      await work(queue).then(worked.resolve, worked.reject);
    },
  });
  t.after(async () => {
    over.resolve();
    await serving.stop();
  });
  await worked.promise;
}

function fences({ database, run }: PostgresServer): void {
  for (const [how, sql] of Object.entries(losses)) {
    test(`Q9 who lost a queue takes nothing more of it and writes nothing more for it: ${how}`, async (t) => {
      const url = await database();
      const store = await openStore(url);
      t.after(() => store.close());
      const now = Date.now();
      await store.inbox.accept(message, { now });
      await store.inbox.accept({ ...message, id: 'telegram:42:2' }, { now: Date.now() });
      await inQueue(t, store, 'inbox', async (queue) => {
        const item = await store.inbox.take(queue, now);
        assert.equal(item?.key, message.id);
        await run(url, sql);
        const step = {
          done: message.id,
          entries: [{ transcript: queue, entry: { kind: 'notice', text: 'x', at: 1 } as const }],
          outbox: [{ key: 'p', conversation, part: { markdown: 'x' } }],
        };
        await assert.rejects(store.commit(step), isLost);
        await assert.rejects(store.inbox.take(queue, now + 60_000), isLost);
        await assert.rejects(store.inbox.fail(message.id, 'x', undefined), isLost);
      });
      const [counts] = await run(
        url,
        `SELECT (SELECT count(*) FROM skillet.entries)::int AS entries, (SELECT count(*) FROM skillet.outbox)::int AS parts,
           (SELECT count(*) FROM skillet.inbox WHERE status = 'waiting')::int AS waiting,
           (SELECT max(taken_at) FROM skillet.inbox)::text AS taken`,
      );
      assert.deepEqual(counts, { entries: 0, parts: 0, waiting: 2, taken: String(now) });
    });

    test(`Q6 Q9 who lost a conversation sends nothing more there: ${how}`, async (t) => {
      const url = await database();
      const store = await openStore(url);
      t.after(() => store.close());
      await store.commit({ outbox: [{ key: 'p', conversation, part: { markdown: 'x' } }] });
      await inQueue(t, store, 'outbox', async (queue) => {
        assert.equal((await store.outbox.next(queue, Date.now()))?.key, 'p');
        await run(url, sql);
        await assert.rejects(store.outbox.sending('p'), isLost);
        await assert.rejects(store.outbox.dead('p', 'x'), isLost);
      });
      const rows = await run(url, 'SELECT status FROM skillet.outbox');
      assert.deepEqual(rows, [{ status: 'waiting' }]);
    });
  }
}
