import {
  alongOf,
  inboxColumns,
  readItem,
  toListed,
  type InboxRow,
  type Accepted,
  type Inbox,
  type InboxItem,
  type ListedItem,
} from '../inbox.ts';
import type { Backing } from './backing.ts';
import { createArrivals } from './create-arrivals.ts';
import { createBatch } from './create-batch.ts';
import { fenceValues, lost, type Fence } from './lease.ts';
import { lockOf } from './queue-of.ts';
import type { Query } from './open-database.ts';
import type { Serve } from './create-serve.ts';

type Taking = Readonly<{ lane: string; now: number; fence: Fence }>;
type TakenRow = InboxRow & Readonly<{ place: number; held: boolean; before: number | null }>;

/** Items taken in one transaction. */
const batchSize = 200;
/** The row of the item that a message is in, by the place of its key among the values. */
const itemOf = (place: string) => `(SELECT item FROM skillet.inbox_keys WHERE key = ${place})`;
/** Ends items without an answer, at `$2`; a condition has to follow. */
export const endItem = `UPDATE skillet.inbox SET status = 'done', parts = '', join_key = NULL, taken_at = NULL, finished_at = $2`;

/** The inbox on PostgreSQL. */
export function createInbox(backing: Backing, serve: Serve): Inbox {
  const { database, jobs, leases, announce, clock, log } = backing;

  const arrive = createArrivals(backing);

  /** An item's state changed by hand: its lane's job, which may have been put off for it, is due. */
  async function byHand(key: string, outlives: 'disk' | 'memory', work: (query: Query) => Promise<boolean>) {
    const lane = await laneOf(database.query, key);
    if (lane === undefined) return false;
    await jobs.prepare('inbox', [lane]);
    const changed = await database.transaction(
      { outlives, locks: [lockOf('inbox', lane)] },
      async (query) => {
        const done = await work(query);
        if (done) await jobs.hasten(query, 'inbox', lane);
        return done;
      },
    );
    if (changed) announce('inbox', [lane]);
    return changed;
  }

  const takeHead = createBatch<Taking, InboxRow | undefined | typeof lost>(async (takings) => {
    const { rows } = await database.query<TakenRow>(
      `SELECT place, held, before, ${inboxColumns.replace(/\w+/g, '(item).$&')} FROM skillet.take($1, $2, $3, $4, $5, $6)`,
      [
        ...fenceValues(takings.map(({ fence }) => fence)),
        takings.map(({ lane }) => lane),
        takings[0]?.now ?? 0,
      ],
    );
    const taken = new Map(rows.map((row) => [row.place, row]));
    return takings.map((_, n) => {
      const row = taken.get(n + 1);
      if (row?.held === false) return lost;
      return row && { ...row, taken_at: row.before };
    });
  }, batchSize);

  async function take(lane: string, now: number): Promise<InboxItem | undefined> {
    for (;;) {
      const row = await leases.fenced((fence) => takeHead({ lane, now, fence }));
      if (row === undefined) return undefined;
      const read = readItem(row);
      if (read.ok) return read.value;
      await leases.fencedQuery(
        database.query,
        `UPDATE skillet.inbox SET status = 'dead', error = $6
         WHERE (SELECT skillet.held($1, $2, $3, $4, false)) AND seq = $5`,
        [row.seq, `The stored message ${read.reason}`],
      );
      log.error(
        { message: row.key, lane, reason: read.reason },
        'a stored message is damaged and was set aside',
      );
    }
  }

  async function fail(key: string, error: string, retryAt: number | undefined): Promise<number> {
    const failed = await leases.fencedQuery<Readonly<{ tries: number }>>(
      database.query,
      `UPDATE skillet.inbox SET status = $6, tries = tries + 1, error = $7, due_at = $8, taken_at = NULL
       WHERE (SELECT skillet.held($1, $2, $3, $4, false)) AND status = 'waiting' AND seq = ${itemOf('$5')}
       RETURNING tries`,
      [key, retryAt === undefined ? 'dead' : 'waiting', plain(error), retryAt ?? 0],
    );
    if (failed.rows[0] !== undefined) return failed.rows[0].tries;
    const known = await database.query<Readonly<{ tries: number }>>(
      `SELECT tries FROM skillet.inbox WHERE seq = ${itemOf('$1')}`,
      [key],
    );
    return known.rows[0]?.tries ?? 0;
  }

  return {
    accept: async (message, options) => (await arrive({ type: 'accept', message, options })) as Accepted,
    replace: async (message) =>
      (await arrive({ type: 'replace', message })) as 'replaced' | 'too_late' | 'unknown',
    serve,
    take,
    async takeAlong(key, now) {
      const { rows } = await leases.fencedQuery<InboxRow>(
        database.query,
        `UPDATE skillet.inbox SET was_taken = true, join_key = NULL, taken_at = $6
         WHERE (SELECT skillet.held($1, $2, $3, $4, false)) AND status = 'waiting' AND stopped_at IS NULL
           AND due_at <= $6 AND seq = ${itemOf('$5')} RETURNING ${inboxColumns}`,
        [key, now],
      );
      return rows[0] && alongOf(rows[0]);
    },
    fail,
    async postpone(key, error, retryAt) {
      await leases.fencedQuery(
        database.query,
        `UPDATE skillet.inbox SET error = $6, due_at = $7, taken_at = NULL
         WHERE (SELECT skillet.held($1, $2, $3, $4, false)) AND status = 'waiting' AND seq = ${itemOf('$5')}`,
        [key, plain(error), retryAt],
      );
    },
    async list(status) {
      const { rows } = await database.query<InboxRow>(
        `SELECT ${inboxColumns} FROM skillet.inbox WHERE status = $1 ORDER BY seq`,
        [status],
      );
      return rows.map(toListed);
    },
    beside: () => itemsBeside(database.query),
    async waitingIn(lane, after = 0) {
      // "0" comes after "/", and DEL after "~".
      const { rows } = await database.query<InboxRow>(
        `SELECT ${inboxColumns} FROM skillet.inbox WHERE status = 'waiting' AND seq > $2 AND (lane = $1
           OR (lane > $1 || '/' AND lane < $1 || '0') OR (lane > $1 || '~' AND lane < $1 || chr(127))) ORDER BY seq`,
        [lane, after],
      );
      return rows.map(toListed);
    },
    retry: (key) =>
      byHand(key, 'disk', async (query) => {
        const { changed } = await query(
          `UPDATE skillet.inbox SET status = 'waiting', tries = 0, error = NULL, due_at = 0, taken_at = NULL,
             stopped_at = NULL WHERE status = 'dead' AND seq = ${itemOf('$1')}`,
          [key],
        );
        return changed > 0;
      }),
    drop: (key) =>
      byHand(key, 'disk', async (query) => {
        const { changed } = await query(
          `${endItem} WHERE status IN ('waiting', 'dead') AND seq = ${itemOf('$1')}`,
          [key, clock.now()],
        );
        return changed > 0;
      }),
  };
}

/** Everything that waits in lanes beside conversations. */
export async function itemsBeside(query: Query): Promise<readonly ListedItem[]> {
  const { rows } = await query<InboxRow>(
    `SELECT ${inboxColumns} FROM skillet.inbox WHERE status = 'waiting' AND position('~' in lane) > 0 ORDER BY seq`,
  );
  return rows.map(toListed);
}

/** The lane of an item. */
export async function laneOf(query: Query, key: string): Promise<string | undefined> {
  const { rows } = await query<Readonly<{ lane: string }>>(
    `SELECT lane FROM skillet.inbox WHERE seq = ${itemOf('$1')}`,
    [key],
  );
  return rows[0]?.lane;
}

/** When the head of a lane is due (milliseconds since 1970); undefined if the lane is empty. */
export async function inboxHead(query: Query, lane: string): Promise<number | undefined> {
  const { rows } = await query<Readonly<{ due_at: number }>>(
    `SELECT due_at FROM skillet.inbox WHERE status = 'waiting' AND lane = $1 ORDER BY seq LIMIT 1`,
    [lane],
  );
  return rows[0]?.due_at;
}

/** PostgreSQL's text holds no NUL. */
function plain(text: string): string {
  return text.replaceAll('\u0000', '');
}
