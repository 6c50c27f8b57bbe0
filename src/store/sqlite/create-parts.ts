import { conversationKey } from '../../core/conversation.ts';
import type { OwnOutbox } from '../outbox.ts';
import type { Step } from '../store.ts';
import type { SqliteParts } from './create-embedded-store.ts';
import { createSqliteWorker, type Bell } from './create-worker.ts';

export function createSqliteParts(
  { connection, batch, clock, log }: SqliteParts,
  { onRing }: Bell,
): OwnOutbox &
  Readonly<{
    /** Adds a part inside a transaction. A known key stays as it is (Q6). */
    add(row: NonNullable<Step['outbox']>[number]): void;
  }> {
  const insert = connection.prepare(
    `INSERT INTO outbox (key, queue, conversation, part, status, due_at)
     VALUES (?, ?, ?, ?, 'waiting', 0) ON CONFLICT (key) DO NOTHING`,
  );
  const queues = connection.prepare<Readonly<{ queue: string }>>(
    `SELECT queue FROM outbox WHERE seq IN (SELECT MIN(seq) FROM outbox WHERE finished_at IS NULL GROUP BY queue)
       AND (status = 'sending' OR due_at <= ?) ORDER BY seq LIMIT ?`,
  );
  const upcoming = connection.prepare<Readonly<{ at: number | null }>>(
    'SELECT MIN(due_at) AS at FROM outbox WHERE finished_at IS NULL AND due_at > ?',
  );
  const forward = connection.prepare('UPDATE outbox SET due_at = ? WHERE finished_at IS NULL AND due_at > ?');
  const sending = connection.prepare(`UPDATE outbox SET status = 'sending' WHERE key = ?`);
  const sent = connection.prepare(
    `UPDATE outbox SET status = 'sent', receipt = ?, finished_at = ? WHERE key = ?`,
  );

  return {
    add({ key, conversation, part }) {
      const place = JSON.stringify(conversation);
      insert.run(key, conversationKey(conversation), place, JSON.stringify(part));
    },
    async sending(key) {
      await batch.write('process', () => sending.run(key));
    },
    async sent(key, receipt) {
      await batch.write('process', () => sent.run(JSON.stringify(receipt), clock.now(), key));
    },
    startWorker: createSqliteWorker({
      due: (now, limit) => ({
        queues: queues.all(now, limit).map(({ queue }) => queue),
        nextAt: upcoming.get(now)?.at ?? undefined,
      }),
      makeDueNow(now, beyond) {
        // A look has to work even if the store can't be written.
        if (upcoming.get(beyond)?.at != null) connection.write('process', () => forward.run(now, beyond));
      },
      what: 'the outbox',
      onWork: onRing,
      clock,
      log,
    }),
  };
}
