import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Entry } from '../../src/core/entry.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';
import { noPostgres, startPostgres, type PostgresServer } from '../support/postgres.ts';

const server = await startPostgres();
if (server === undefined) {
  test(
    'Q8 what counts is on the disk of the server when it is committed',
    { skip: noPostgres },
    () => undefined,
  );
} else {
  after(() => server.close());
  durable(server);
}

/** Notes for each row that is written whether its commit waits for the disk. */
const witness = `
  CREATE TABLE public.seen (no serial, what text, waits text);
  CREATE FUNCTION public.see() RETURNS trigger AS $$ BEGIN
    INSERT INTO public.seen (what, waits) VALUES
      (coalesce(to_jsonb(new)->>'kind', tg_argv[0]), current_setting('synchronous_commit'));
    RETURN new;
  END $$ LANGUAGE plpgsql;
  CREATE TRIGGER see AFTER INSERT ON skillet.inbox_keys FOR EACH ROW EXECUTE FUNCTION public.see('accepted');
  CREATE TRIGGER see AFTER INSERT ON skillet.entries FOR EACH ROW EXECUTE FUNCTION public.see('');
  CREATE TRIGGER see AFTER UPDATE ON skillet.outbox FOR EACH ROW WHEN (new.status = 'sending')
    EXECUTE FUNCTION public.see('sending');`;

function durable({ database, run }: PostgresServer): void {
  test('Q1 Q8 what was accepted, done outside or is about to be sent is on the disk of the server when it is committed', async (t) => {
    const url = await database();
    const store = await openStore(url);
    t.after(() => store.close());
    await run(url, witness);
    const at = Date.now();
    const write = (entry: Entry) => store.commit({ entries: [{ transcript: 't', entry }] });
    const message = makeMessage();
    const { conversation } = message;
    assert.equal(await store.inbox.accept(message, { now: at }), 'stored');
    await write({ kind: 'notice', text: 'outside a queue', at });

    const worked = store.inbox.startWorker({
      channels: ['telegram'],
      concurrency: 1,
      async run(queue) {
        const item = await store.inbox.take(queue, Date.now());
        if (item === undefined) return;
        await write({ kind: 'user', content: 'is made again', at });
        await write({ kind: 'tool_started', toolUseId: 'c', at });
        await write({ kind: 'tool_result', toolUseId: 'c', content: 'done', isError: false, at });
        await store.commit({
          done: item.key,
          outbox: [{ key: 'p', conversation, part: { markdown: 'hi' } }],
        });
      },
    });
    await worked.idle();
    await worked.stop();
    const sent = store.outbox.startWorker({
      channels: ['telegram'],
      concurrency: 1,
      async run(queue) {
        const row = await store.outbox.next(queue, Date.now());
        if (row === undefined) return;
        await store.outbox.sending(row.key);
        await store.outbox.sent(row.key, { id: '1' });
      },
    });
    await sent.idle();
    await sent.stop();
    const seen = await run(url, 'SELECT what, waits FROM public.seen ORDER BY no');
    assert.deepEqual(
      seen.map(({ what, waits }) => `${String(what)} ${String(waits)}`),
      ['accepted on', 'notice on', 'user off', 'tool_started on', 'tool_result on', 'sending on'],
    );
  });
}
