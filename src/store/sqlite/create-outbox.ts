import type { Clock } from '../../lib/clock.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Log } from '../../lib/log.ts';
import {
  readPart,
  readReceipt,
  type OutboxTableRow,
  type DeadPart,
  type Outbox,
  type OutboxRow,
} from '../outbox.ts';
import type { Step } from '../store.ts';
import type { Batch } from './create-batch.ts';
import { createServe, type Bell, type Due } from './create-serve.ts';
import type { Connection } from './open-connection.ts';

/** The outbox on the embedded store. `add` belongs inside a step's transaction; a key that is there already is left alone (Q6). */
export function createOutbox(
  connection: Connection,
  batch: Batch,
  clock: Clock,
  log: Log,
  { changed, onWork }: Readonly<{ changed: Bell['ring']; onWork: Bell['onRing'] }>,
): Outbox & Readonly<{ add(row: NonNullable<Step['outbox']>[number]): void }> {
  const insert = connection.prepare(
    `INSERT INTO outbox (key, lane, conversation, part, status, due_at)
     VALUES (?, ?, ?, ?, 'waiting', 0) ON CONFLICT (key) DO NOTHING`,
  );
  const lanes = connection.prepare<Readonly<{ lane: string }>>(
    `SELECT lane FROM outbox WHERE seq IN (SELECT MIN(seq) FROM outbox WHERE finished_at IS NULL GROUP BY lane)
       AND (status = 'sending' OR due_at <= ?) ORDER BY seq LIMIT ?`,
  );
  const head = connection.prepare<OutboxTableRow & Readonly<{ due_at: number }>>(
    `SELECT seq, outbox.key, lane, conversation, part, status, tries, repeats, due_at, shown.receipt AS receipt
     FROM outbox LEFT JOIN shown ON shown.key = outbox.key
     WHERE finished_at IS NULL AND lane = ? ORDER BY seq LIMIT 1`,
  );
  const upcoming = connection.prepare<Readonly<{ at: number | null }>>(
    'SELECT MIN(due_at) AS at FROM outbox WHERE finished_at IS NULL AND due_at > ?',
  );
  const count = connection.prepare<Readonly<{ unsent: number }>>(
    'SELECT COUNT(*) AS unsent FROM outbox WHERE finished_at IS NULL AND lane = ?',
  );
  const sending = connection.prepare(`UPDATE outbox SET status = 'sending' WHERE key = ?`);
  const sent = connection.prepare(
    `UPDATE outbox SET status = 'sent', receipt = ?, finished_at = ? WHERE key = ?`,
  );
  const retry = connection.prepare(
    `UPDATE outbox SET status = 'waiting', tries = tries + 1, error = ?, due_at = ?
     WHERE finished_at IS NULL AND key = ?`,
  );
  const forward = connection.prepare('UPDATE outbox SET due_at = ? WHERE finished_at IS NULL AND due_at > ?');
  const dead = connection.prepare(
    `UPDATE outbox SET status = 'dead', error = ?, finished_at = ? WHERE finished_at IS NULL AND key = ?`,
  );
  const deadParts = connection.prepare<Omit<DeadPart, 'error'> & Readonly<{ error: string | null }>>(
    `SELECT key, lane, error, finished_at AS at FROM outbox WHERE status = 'dead' ORDER BY seq`,
  );
  const revive = connection.prepare(
    `UPDATE outbox SET status = 'waiting', tries = 0, error = NULL, due_at = 0, finished_at = NULL
     WHERE status = 'dead' AND key = ?`,
  );
  const repeated = connection.prepare('UPDATE outbox SET repeats = repeats + 1 WHERE key = ?');
  const show = connection.prepare(
    `INSERT INTO shown (key, receipt, shown_at) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET receipt = excluded.receipt, shown_at = excluded.shown_at`,
  );
  const hide = connection.prepare('DELETE FROM shown WHERE key = ?');
  const receipt = connection.prepare<Readonly<{ receipt: string | null }>>(
    'SELECT receipt FROM outbox WHERE key = ?',
  );
  const shown = connection.prepare<Readonly<{ receipt: string }>>('SELECT receipt FROM shown WHERE key = ?');

  function giveUp(key: string, error: string): void {
    connection.write('process', () => dead.run(error, clock.now(), key));
  }

  function next(lane: string, now: number): OutboxRow | undefined {
    for (;;) {
      const row = head.get(lane);
      if (row === undefined || (row.status !== 'sending' && row.due_at > now)) return undefined;
      const read = readPart(row);
      if (read.ok) return read.value;
      log.error({ outbox: row.key, lane, reason: read.reason }, 'a stored part is damaged and was given up');
      giveUp(row.key, `The stored part ${read.reason}`);
    }
  }

  const bringForward = (now: number, beyond: number): void => {
    // A store that can't be written is still looked at.
    if (upcoming.get(beyond)?.at != null) connection.write('process', () => forward.run(now, beyond));
  };
  const due: Due = (now, limit) => {
    const at = upcoming.get(now)?.at ?? undefined;
    return {
      lanes: lanes.all(now, limit).map(({ lane }) => lane),
      nextAt: at,
    };
  };

  return {
    add({ key, conversation, part }) {
      const place = JSON.stringify(conversation);
      insert.run(key, conversationKey(conversation), place, JSON.stringify(part));
    },
    serve: createServe({ due, bringForward, what: 'the outbox', onWork, clock, log }),
    next: async (lane, now) => next(lane, now),
    async sending(key) {
      await batch.write('process', () => sending.run(key));
    },
    async sent(key, receipt) {
      await batch.write('process', () => sent.run(JSON.stringify(receipt), clock.now(), key));
    },
    async retry(key, error, at) {
      connection.write('process', () => retry.run(error, at, key));
    },
    dead: async (key, error) => giveUp(key, error),
    async repeated(key) {
      connection.write('process', () => repeated.run(key));
    },
    givenUp: async () => deadParts.all().map(({ error, ...part }) => ({ ...part, error: error ?? '' })),
    async revive(key) {
      const revived = connection.write('power', () => revive.run(key)) > 0;
      if (revived) changed();
      return revived;
    },
    pending: async (conversation) => count.get(conversationKey(conversation))?.unsent ?? 0,
    async show(key, receipt) {
      connection.write('process', () =>
        receipt === undefined ? hide.run(key) : show.run(key, JSON.stringify(receipt), clock.now()),
      );
    },
    shown: async (key) => readReceipt(shown.get(key)?.receipt),
    receipt: async (key) => readReceipt(receipt.get(key)?.receipt ?? undefined),
  };
}
