import { conversationKey } from '../../core/conversation.ts';
import {
  readPart,
  readReceipt,
  type DeadPart,
  type Outbox,
  type OutboxRow,
  type OutboxTableRow,
} from '../outbox.ts';
import type { Backing } from './backing.ts';
import type { Serve } from './create-serve.ts';
import { createBatch } from './create-batch.ts';
import { fenceValues, lost, type Fence } from './lease.ts';
import { lockOf } from './queue-of.ts';
import type { Query } from './open-database.ts';

/** Parts looked for, or marked, in one statement. */
const batchSize = 200;
type HeadRow = OutboxTableRow & Readonly<{ due_at: number }>;
type Sending = Readonly<{ key: string; fence: Fence }>;
type Sent = Readonly<{ key: string; receipt: string }>;

/** The outbox on PostgreSQL. */
export function createOutbox(
  { database, jobs, leases, announce, clock, log }: Backing,
  serve: Serve,
): Outbox {
  /** A change of a row that only who holds its conversation may make; the row's key is the fourth value. */
  async function change(set: string, values: readonly unknown[]): Promise<void> {
    await leases.fencedQuery(
      database.query,
      `UPDATE skillet.outbox SET ${set} WHERE (SELECT skillet.held($1, $2, $3, $4, false)) AND finished_at IS NULL AND key = $5`,
      values,
    );
  }

  const firstOf = createBatch<string, HeadRow | undefined>(async (lanes) => {
    const { rows } = await database.query<HeadRow & Readonly<{ place: number }>>(
      `SELECT lanes.place, head.* FROM unnest($1::text[]) WITH ORDINALITY AS lanes (lane, place) CROSS JOIN LATERAL (
         SELECT o.key, o.conversation, o.part, o.status, o.tries, o.repeats, o.due_at, s.receipt
         FROM skillet.outbox o LEFT JOIN skillet.shown s ON s.key = o.key
         WHERE o.finished_at IS NULL AND o.lane = lanes.lane ORDER BY o.seq LIMIT 1) AS head`,
      [lanes],
    );
    const heads = new Map(rows.map((row) => [row.place, row]));
    return lanes.map((_, n) => heads.get(n + 1));
  }, batchSize);

  const beginSend = createBatch<Sending, undefined | typeof lost>(async (sendings) => {
    const { rows } = await database.query<Readonly<{ held: readonly boolean[] }>>(
      'SELECT skillet.begin_sends($1, $2, $3, $4, $5) AS held',
      [...fenceValues(sendings.map(({ fence }) => fence)), sendings.map(({ key }) => key)],
    );
    return sendings.map((_, n) => (rows[0]?.held[n] === true ? undefined : lost));
  }, batchSize);

  const noteSent = createBatch<Sent, undefined>(async (sent) => {
    await database.query(
      `UPDATE skillet.outbox SET status = 'sent', receipt = new.receipt, finished_at = $3
       FROM unnest($1::text[], $2::text[]) AS new (key, receipt) WHERE outbox.key = new.key`,
      [sent.map(({ key }) => key), sent.map(({ receipt }) => receipt), clock.now()],
    );
    return sent.map(() => undefined);
  }, batchSize);

  const giveUp = (key: string, error: string) =>
    change(`status = 'dead', error = $6, finished_at = $7`, [key, plain(error), clock.now()]);

  async function next(lane: string, now: number): Promise<OutboxRow | undefined> {
    for (;;) {
      const row = await firstOf(lane);
      if (row === undefined || (row.status !== 'sending' && row.due_at > now)) return undefined;
      const read = readPart(row);
      if (read.ok) return read.value;
      log.error({ outbox: row.key, lane, reason: read.reason }, 'a stored part is damaged and was given up');
      await giveUp(row.key, `The stored part ${read.reason}`);
    }
  }

  return {
    serve,
    next,
    // On the disk before the platform hears of it.
    sending: (key) => leases.fenced((fence) => beginSend({ key, fence })),
    // Not fenced: that it was sent stays true, no matter who has the conversation now.
    sent: (key, receipt) => noteSent({ key, receipt: JSON.stringify(receipt) }),
    retry: (key, error, at) =>
      change(`status = 'waiting', tries = tries + 1, error = $6, due_at = $7`, [key, plain(error), at]),
    dead: giveUp,
    repeated: (key) => change('repeats = repeats + 1', [key]),
    async givenUp() {
      const { rows } = await database.query<DeadPart>(
        `SELECT key, lane, coalesce(error, '') AS error, finished_at AS at FROM skillet.outbox
         WHERE status = 'dead' ORDER BY seq`,
      );
      return rows;
    },
    async revive(key) {
      const dead = await database.query<Readonly<{ lane: string }>>(
        `SELECT lane FROM skillet.outbox WHERE status = 'dead' AND key = $1`,
        [key],
      );
      const lane = dead.rows[0]?.lane;
      if (lane === undefined) return false;
      await jobs.prepare('outbox', [lane]);
      const locks = [lockOf('outbox', lane)];
      const revived = await database.transaction({ outlives: 'disk', locks }, async (query) => {
        const { changed } = await query(
          `UPDATE skillet.outbox SET status = 'waiting', tries = 0, error = NULL, due_at = 0, finished_at = NULL
           WHERE status = 'dead' AND key = $1`,
          [key],
        );
        if (changed > 0) await jobs.hasten(query, 'outbox', lane);
        return changed > 0;
      });
      if (revived) announce('outbox', [lane]);
      return revived;
    },
    async pending(conversation) {
      const { rows } = await database.query<Readonly<{ unsent: number }>>(
        'SELECT count(*) AS unsent FROM skillet.outbox WHERE finished_at IS NULL AND lane = $1',
        [conversationKey(conversation)],
      );
      return rows[0]?.unsent ?? 0;
    },
    async show(key, receipt) {
      if (receipt === undefined) await database.query('DELETE FROM skillet.shown WHERE key = $1', [key]);
      else {
        await database.query(
          `INSERT INTO skillet.shown (key, receipt, shown_at) VALUES ($1, $2, $3)
           ON CONFLICT (key) DO UPDATE SET receipt = excluded.receipt, shown_at = excluded.shown_at`,
          [key, JSON.stringify(receipt), clock.now()],
        );
      }
    },
    async shown(key) {
      const { rows } = await database.query<Readonly<{ receipt: string }>>(
        'SELECT receipt FROM skillet.shown WHERE key = $1',
        [key],
      );
      return readReceipt(rows[0]?.receipt);
    },
    async receipt(key) {
      const { rows } = await database.query<Readonly<{ receipt: string | null }>>(
        'SELECT receipt FROM skillet.outbox WHERE key = $1',
        [key],
      );
      return readReceipt(rows[0]?.receipt ?? undefined);
    },
  };
}

/** When the first unsent row of a conversation is due (milliseconds since 1970); undefined if all is sent. */
export async function outboxHead(query: Query, lane: string): Promise<number | undefined> {
  const { rows } = await query<Readonly<{ due_at: number }>>(
    `SELECT CASE WHEN status = 'sending' THEN 0 ELSE due_at END AS due_at FROM skillet.outbox
     WHERE finished_at IS NULL AND lane = $1 ORDER BY seq LIMIT 1`,
    [lane],
  );
  return rows[0]?.due_at;
}

/** PostgreSQL's text holds no NUL. */
function plain(text: string): string {
  return text.replaceAll('\u0000', '');
}
