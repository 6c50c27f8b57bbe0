import type { Message } from '../core/message.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { joinMessages } from './grow-item.ts';
import type { CancelRequests } from './pending-requests.ts';
import { each, hasChanged, type ByHand, type Call, type Sql, type Statement, type Steps } from './sql.ts';
import type { ServeOptions, Serving, Stopped, StopOrder, Store } from './store.ts';
import { readStored, type ReadJson } from './stored-json.ts';
import { storedItem } from './stored-message.ts';

export const inboxColumns = 'seq, key, lane, parts, status, tries, error, accepted_at, taken_at, stopped_at';
/** The row of the item that a message is in. */
export const itemOf = (key: string): string => `(SELECT item FROM inbox_keys WHERE key = ${key})`;
/** Ends items without an answer; a condition has to follow. */
export const endItem = (at: string): string =>
  `UPDATE inbox SET status = 'done', parts = '', join_key = NULL, taken_at = NULL, finished_at = ${at}`;

/** A message on its way to an answer. */
export type InboxItem = Readonly<{
  /** The message's id. */
  key: string;
  /** Order of acceptance, growing. */
  seq: number;
  /** The conversation's key: items of one lane are handled one after another. */
  lane: string;
  message: Message;
  status: 'waiting' | 'done' | 'dead';
  /** Failed tries so far. */
  tries: number;
  /** The last failure, for the operator. */
  error?: string;
  acceptedAt: number;
  /** When it was taken before, if it was neither finished nor failed since: the process ended under it (Q3, Q5). */
  interruptedAt?: number;
  /** A person stopped it: it is to be ended, not gone on with. */
  stopped?: true;
}>;

/** An item as others see it: one whose stored message can't be read any more has none. */
export type ListedItem = Omit<InboxItem, 'message' | 'interruptedAt'> &
  Readonly<{
    message?: Message;
    /** When somebody took it, if it was neither finished nor failed since: it is being answered, or its process ended under it. */
    takenAt?: number;
  }>;

export type Accepted =
  /** Stored under a new key. */
  | 'stored'
  /** Merged into the waiting item that it completes (twin) or continues (album, split text). */
  | 'merged'
  /** Seen before: nothing changed. */
  | 'duplicate'
  /** The lane already holds its 50 waiting items: nothing was stored. */
  | 'lane_full';

/** Messages accepted and not yet answered; keys are remembered for at least 7 days (Q2). All of it is durable when a call resolves (Q1). */
export type Inbox = Readonly<{
  /**
   * One transaction, committed with full sync. A known key whose item waits with chat type `unknown` takes the type from
   * this twin. With `join`, a waiting item of the same join key, lane and sender takes text (after `glue`) and
   * attachments, as long as nobody took it; a new item with `join` is not due before `now + holdMs`.
   */
  accept(
    message: Message,
    options: Readonly<{ now: number; join?: Readonly<{ key: string; holdMs: number; glue: string }> }>,
  ): Promise<Accepted>;
  /** Replaces a message, alone or joined with others, of an item that still waits and was never taken (an edit). */
  replace(message: Message): Promise<'replaced' | 'too_late' | 'unknown'>;
  /** Gives out lanes with a due item until it is stopped. */
  serve(options: ServeOptions): Serving;
  /**
   * The oldest waiting item of a lane, if it is due; the same one again until it is finished or set aside (Q5). Marks it
   * taken. An item that can't be read any more is set aside with the reason and the next one is given (Q11).
   */
  take(lane: string, now: number): Promise<InboxItem | undefined>;
  /**
   * Marks one waiting item as taken that is not the oldest of its lane, for anyone who works in the lane (H11); nothing if it
   * is not due, was stopped, or waits no more. An edit comes too late from then on.
   */
  takeAlong(key: string, now: number): Promise<InboxItem | undefined>;
  /**
   * Counts a failed try; the item is due again at `retryAt`, or set aside (dead) when there is none. Gives the tries so
   * far. An item that was finished meanwhile stays finished.
   */
  fail(key: string, error: string, retryAt: number | undefined): Promise<number>;
  /** Puts a waiting item off until `retryAt` without counting a try: the last one got somewhere (Q3). */
  postpone(key: string, error: string, retryAt: number): Promise<void>;
  list(status: 'waiting' | 'dead'): Promise<readonly ListedItem[]>;
  /**
   * What waits in a lane and in lanes that begin with it and `/` (threads) or `~` (work beside it), oldest first; only
   * what came after the item of number `after`, where one is given.
   */
  waitingIn(lane: string, after?: number): Promise<readonly ListedItem[]>;
  /** Everything that waits in lanes beside conversations: runs (U9). */
  beside(): Promise<readonly ListedItem[]>;
  /** Puts a dead item back in its lane with no tries counted. False when there is none. */
  retry(key: string): Promise<boolean>;
  /** Marks a waiting or dead item as done without an answer. False when there is none. */
  drop(key: string): Promise<boolean>;
}>;

/** The columns of an inbox row that make an item. */
export type InboxRow = Readonly<{
  seq: number;
  key: string;
  lane: string;
  parts: string;
  status: InboxItem['status'];
  tries: number;
  error: string | null;
  accepted_at: number;
  taken_at: number | null;
  stopped_at: number | null;
}>;

/** What each store does in its own way, because it happens with every message. */
type OwnInbox = Pick<Inbox, 'accept' | 'replace' | 'serve'> &
  Readonly<{
    /** Marks the oldest item of a lane as taken if it is due; its row as it was before. */
    takeHead(lane: string, now: number): Promise<InboxRow | undefined>;
    byHand: ByHand;
  }>;

/** The inbox, and `Store.stop`. */
export function createInbox(
  sql: Sql,
  own: OwnInbox,
  { clock, log, cancel }: Readonly<{ clock: Clock; log: Log; cancel: CancelRequests }>,
): Readonly<{ inbox: Inbox; stop: Store['stop']; beside: Statement<InboxRow> }> {
  const { dialect } = sql;
  const item = itemOf('?1');
  const waiting = (which: string) =>
    sql.statement<InboxRow>(
      `SELECT ${inboxColumns} FROM inbox WHERE status = 'waiting' ${which} ORDER BY seq`,
    );
  const all = waiting('');
  const beside = waiting(`AND ${dialect.contains('lane', "'~'")}`);
  const within = waiting(
    `AND +seq > ?2 AND lane >= ?1 AND lane < ?6 AND (lane = ?1 OR lane > ?3 AND lane < ?4 OR lane > ?5)`,
  );
  const dead = sql.statement<InboxRow>(
    `SELECT ${inboxColumns} FROM inbox WHERE status = 'dead' ORDER BY seq`,
  );
  const setAside = sql.guarded(
    `UPDATE inbox SET status = 'dead', error = ?2, taken_at = NULL WHERE ${dialect.held} AND seq = ?1`,
  );
  const ofThis = `WHERE ${dialect.held} AND status = 'waiting' AND seq = ${item}`;
  const takeAlong = sql.guarded<InboxRow>(
    `UPDATE inbox SET was_taken = TRUE, join_key = NULL, taken_at = ?2 ${ofThis} AND stopped_at IS NULL AND due_at <= ?2
     RETURNING ${inboxColumns}`,
  );
  const fail = sql.guarded<Readonly<{ tries: number }>>(
    `UPDATE inbox SET status = ?2, tries = tries + 1, error = ?3, due_at = ?4, taken_at = NULL ${ofThis} RETURNING tries`,
  );
  const postpone = sql.guarded(`UPDATE inbox SET error = ?2, due_at = ?3, taken_at = NULL ${ofThis}`);
  const triesOf = sql.statement<Readonly<{ tries: number }>>(`SELECT tries FROM inbox WHERE seq = ${item}`);
  const revive = sql.statement(
    `UPDATE inbox SET status = 'waiting', tries = 0, error = NULL, due_at = 0, taken_at = NULL, stopped_at = NULL
     WHERE status = 'dead' AND seq = ${item}`,
  );
  const drop = sql.statement(`${endItem('?2')} WHERE status IN ('waiting', 'dead') AND seq = ${item}`);
  const dropUntaken = sql.statement(
    `${endItem('?2')} WHERE status = 'waiting' AND taken_at IS NULL AND seq = ${item}`,
  );
  const stopTaken = sql.statement(
    `UPDATE inbox SET stopped_at = ?2 WHERE status = 'waiting' AND seq = ${item}`,
  );

  async function take(lane: string, now: number): Promise<InboxItem | undefined> {
    for (;;) {
      const row = await own.takeHead(lane, now);
      if (row === undefined) return undefined;
      const read = readItem(row);
      if (read.ok) return read.value;
      await setAside(row.seq, `The stored message ${read.reason}`);
      log.error(
        { message: row.key, lane, reason: read.reason },
        'a stored message is damaged and was set aside',
      );
    }
  }

  function* stop({ items, asks = [] }: StopOrder): Steps<Stopped> {
    const now = clock.now();
    const cancelled = yield* cancel(asks, now);
    const changed = function* (change: Statement): Steps<readonly string[]> {
      const answers = yield* each(items.map((key) => change(key, now)));
      return items.filter((_, n) => answers[n]?.changed === 1);
    };
    return { cancelled, dropped: yield* changed(dropUntaken), stopping: yield* changed(stopTaken) };
  }

  const list = async (rows: Call<InboxRow>) => (await sql.read(rows)).map(toListed);
  const byHand = async (key: string, survives: 'power' | 'server', change: Call) =>
    (await own.byHand([key], survives, change, hasChanged)).changed > 0;

  return {
    beside,
    stop: (order) => own.byHand(order.items, 'server', stop(order), ({ dropped }) => dropped.length > 0),
    inbox: {
      accept: own.accept,
      replace: own.replace,
      serve: own.serve,
      take,
      async takeAlong(key, now) {
        const [row] = (await takeAlong(key, now)).rows;
        // What can't be read is left for its own turn.
        const read = row && readItem({ ...row, taken_at: null });
        return read?.ok === true ? read.value : undefined;
      },
      async fail(key, error, retryAt) {
        const status = retryAt === undefined ? 'dead' : 'waiting';
        const [failed] = (await fail(key, status, error, retryAt ?? 0)).rows;
        const [known] = failed === undefined ? await sql.read(triesOf(key)) : [failed];
        return known?.tries ?? 0;
      },
      async postpone(key, error, retryAt) {
        await postpone(key, error, retryAt);
      },
      list: (status) => list(status === 'dead' ? dead() : all()),
      beside: () => list(beside()),
      // "0" comes after "/", and DEL after "~".
      waitingIn: (lane, after = 0) =>
        list(within(lane, after, `${lane}/`, `${lane}0`, `${lane}~`, `${lane}\u007f`)),
      retry: (key) => byHand(key, 'power', revive(key)),
      drop: (key) => byHand(key, 'server', drop(key, clock.now())),
    },
  };
}

/** The item that a row holds; a row whose message can't be read gives the reason. */
function readItem(row: InboxRow): ReadJson<InboxItem> {
  const parts = readStored(storedItem, row.parts);
  if (!parts.ok) return parts;
  const { takenAt, ...item } = listedItem(row);
  return {
    ok: true,
    value: {
      ...item,
      interruptedAt: takenAt,
      message: joinMessages(parts.value),
    },
  };
}

/** A row as others see it, with its message where that can be read. */
export function toListed(row: InboxRow): ListedItem {
  const parts = readStored(storedItem, row.parts);
  return parts.ok ? { ...listedItem(row), message: joinMessages(parts.value) } : listedItem(row);
}

/** What can be said of a row without its message. */
function listedItem(row: InboxRow): Omit<ListedItem, 'message'> {
  return {
    key: row.key,
    seq: row.seq,
    lane: row.lane,
    status: row.status,
    tries: row.tries,
    error: row.error === null ? undefined : row.error,
    acceptedAt: row.accepted_at,
    takenAt: row.taken_at === null ? undefined : row.taken_at,
    stopped: row.stopped_at === null ? undefined : true,
  };
}
