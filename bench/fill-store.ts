import { systemClock } from '../src/lib/clock.ts';
import type { Entry } from '../src/core/entry.ts';
import { openStore } from '../src/store/open-store.ts';
import type { Store } from '../src/store/store.ts';
import { makeMessage } from '../test/support/make-message.ts';
import type { PostgresServer } from '../test/support/postgres.ts';

const batch = 500;
const firstChat = 900_000_000;

/** Conversations that were answered before: a message, its answer and the part that was sent. */
export async function fillStore(url: string, conversations: number): Promise<void> {
  if (conversations === 0) return;
  const store = await openStore(url, { clock: systemClock });
  for (let first = 0; first < conversations; first += batch) {
    const chats = Array.from({ length: Math.min(batch, conversations - first) }, (_, n) =>
      String(firstChat + first + n),
    );
    await Promise.all(chats.map((chat) => answerOnce(store, chat)));
  }
  await store.close();
}

/** The same on PostgreSQL: one conversation by the store, the others as copies of its rows. */
export async function fillPostgres(
  server: PostgresServer,
  url: string,
  conversations: number,
): Promise<void> {
  await fillStore(url, Math.min(1, conversations));
  if (conversations < 2) return;
  const of = (column: string) => `replace(${column}, '${firstChat}', (${firstChat} + n)::text)`;
  const copies = `generate_series(1, ${conversations - 1}) AS n`;
  await server.run(
    url,
    `INSERT INTO skillet.inbox (key, queue, parts, status, due_at, accepted_at, was_taken, finished_at)
       SELECT ${of('key')}, ${of('queue')}, parts, status, due_at, accepted_at, was_taken, finished_at FROM skillet.inbox, ${copies};
     INSERT INTO skillet.inbox_keys (key, item) SELECT key, seq FROM skillet.inbox ON CONFLICT DO NOTHING;
     INSERT INTO skillet.outbox (key, queue, conversation, part, status, receipt, finished_at)
       SELECT ${of('key')}, ${of('queue')}, ${of('conversation')}, part, status, receipt, finished_at FROM skillet.outbox, ${copies};
     INSERT INTO skillet.entries (transcript, kind, entry)
       SELECT ${of('transcript')}, kind, ${of('entry')} FROM skillet.entries, ${copies} ORDER BY n, seq;
     INSERT INTO skillet.transcript_times (transcript, last_at)
       SELECT ${of('transcript')}, last_at FROM skillet.transcript_times, ${copies}`,
  );
  await server.run(url, 'VACUUM ANALYZE');
}

async function answerOnce(store: Store, chat: string): Promise<void> {
  const conversation = { channel: 'telegram', chat };
  const transcript = `telegram:${chat}`;
  const message = makeMessage({ id: `telegram:${chat}:1`, conversation });
  await store.inbox.accept(message, { now: Date.now() });
  const entries: readonly Entry[] = [
    { kind: 'user', item: message.id, sender: transcript, content: 'hello', at: Date.now() },
    { kind: 'notice', text: 'filled', at: Date.now() },
  ];
  const key = `${message.id}#0`;
  await store.commit({
    entries: entries.map((entry) => ({ transcript, entry })),
    outbox: [{ key, conversation, part: { markdown: 'hi' } }],
    done: message.id,
  });
  await store.outbox.sent(key, { id: '1' });
}
