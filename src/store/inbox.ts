import type { Join } from '../core/join.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { joinMessages, wholeOf } from './grow-item.ts';
import { NewerRow, readShared } from './newer-row.ts';
import type { CancelRequests } from './pending-requests.ts';
import {
  each,
  hasChanged,
  type ByOperator,
  type SqlCall,
  type Sql,
  type SqlStatement,
  type Steps,
} from './sql.ts';
import type { WorkerOptions, QueueWorker, Stopped, StopOrder, Store } from './store.ts';
import { readStored, type ReadJson } from './stored-json.ts';
import { storedItem } from './stored-message.ts';

/** Lookups of one moment that share a statement, at most. */
const most = 200;

export const inboxColumns = 'seq, key, queue, parts, status, tries, error, accepted_at, taken_at, stopped_at';
/** SQL for the number of the inbox row that holds a message. */
export const itemOf = (key: string): string => `(SELECT item FROM inbox_keys WHERE key = ${key})`;
export const endItem = (at: string): string =>
  `UPDATE inbox SET status = 'done', parts = '', join_key = NULL, taken_at = NULL, finished_at = ${at}`;

export type InboxItem = Readonly<{
  key: string;
  seq: number;
  /** The key of the conversation, or of work beside it. Items of one queue run one after another. */
  queue: string;
  message: Message;
  status: 'waiting' | 'done' | 'dead';
  tries: number;
  error?: string;
  acceptedAt: number;
  /** When it was taken before without finishing or failing, because the process died (Q3, Q5). */
  interruptedAt?: number;
  stopped?: true;
}>;

/** An item as lists show it. `message` is undefined if it can't be read. */
export type ListedItem = Omit<InboxItem, 'message' | 'interruptedAt'> &
  Readonly<{
    message?: Message;
    /** When it was taken: it is being answered, or its process died. */
    takenAt?: number;
  }>;

export type WaitingItem = Readonly<{
  key: string;
  acceptedAt: number;
  /** Reads the message only when asked, because a queue may hold many. Undefined if it can't be read. */
  message(): Message | undefined;
}>;

export type Accepted =
  | 'stored'
  /** Added to a waiting item, as its twin or continuation (album, split text). */
  | 'merged'
  | 'duplicate'
  /** Nothing was stored, because 50 items wait in the queue. */
  | 'queue_full';

/** Messages that wait for an answer. Changes are durable when a call resolves (Q1). Keys are kept for 7 days (Q2). */
export type Inbox = Readonly<{
  /**
   * Stores a message. A waiting item with chat type `unknown` gets the type of a twin. With `join`, the text (after its
   * glue) and attachments are added to the newest waiting, untaken item with the same join key, queue and sender; a new
   * item is due at `now + holdMs`.
   */
  accept(message: Message, options: Readonly<{ now: number; join?: Join }>): Promise<Accepted>;
  /** What `accept` would add the message to, or has added it to. Undefined if it needs an item of its own (H3). */
  begun(message: Message, join: Join): Promise<Message | undefined>;
  /** Replaces a message of a waiting item by its edit, unless the item was taken already. */
  replace(message: Message): Promise<'replaced' | 'too_late' | 'unknown'>;
  startWorker(options: WorkerOptions): QueueWorker;
  /**
   * The oldest waiting item of a queue, if it is due. It stays the same item until it is finished or dead-lettered
   * (Q5). Unreadable items are dead-lettered and skipped (Q11). Throws NewerRow for one of a newer version.
   */
  take(queue: string, now: number): Promise<InboxItem | undefined>;
  /**
   * Takes a due item that is not the first of its queue, for the work that runs there (H11). Undefined if it was
   * stopped or does not wait any more.
   */
  takeAlong(key: string, now: number): Promise<InboxItem | undefined>;
  /**
   * Records a failure. Without `retryAt` the item is dead. Returns how many tries failed; a finished item stays
   * finished.
   */
  fail(key: string, error: string, retryAt: number | undefined): Promise<number>;
  /** Delays an item without counting a try, because the last one made progress (Q3). */
  postpone(key: string, error: string, retryAt: number): Promise<void>;
  /** Undoes a `take`, so that another process can take the item (Q15). */
  untake(item: Pick<InboxItem, 'key' | 'interruptedAt'>): Promise<void>;
  list(status: 'waiting' | 'dead'): Promise<readonly ListedItem[]>;
  /** What waits in a queue, its threads (`/`) and beside it (`~`), oldest first. */
  waitingIn(queue: string): Promise<readonly ListedItem[]>;
  /** What waits in the item's queue after it, oldest first. */
  behind(item: Pick<InboxItem, 'queue' | 'seq'>): Promise<readonly WaitingItem[]>;
  /** All items in queues beside conversations, which are runs (U9). */
  beside(): Promise<readonly ListedItem[]>;
  /** Resets the tries of a dead item. False if there is no such item. */
  retry(key: string): Promise<boolean>;
  /** Marks a waiting or dead item as done. False if there is no such item. */
  drop(key: string): Promise<boolean>;
}>;

export type InboxRow = Readonly<{
  seq: number;
  key: string;
  queue: string;
  parts: string;
  status: InboxItem['status'];
  tries: number;
  error: string | null;
  accepted_at: number;
  taken_at: number | null;
  stopped_at: number | null;
}>;

/** What the kinds of store do in their own way, for speed. */
type OwnInbox = Pick<Inbox, 'accept' | 'replace' | 'startWorker'> &
  Readonly<{
    /** Takes the oldest item if it is due, and returns its row as it was before. */
    takeHead(queue: string, now: number): Promise<InboxRow | undefined>;
    byOperator: ByOperator;
  }>;

export function createInbox(
  sql: Sql,
  own: OwnInbox,
  { clock, log, cancel }: Readonly<{ clock: Clock; log: Log; cancel: CancelRequests }>,
): Readonly<{ inbox: Inbox; stop: Store['stop']; beside: SqlStatement<InboxRow> }> {
  const { dialect } = sql;
  const item = itemOf('?1');
  const waiting = `SELECT ${inboxColumns} FROM inbox WHERE status = 'waiting'`;
  // The sign keeps SQLite from reading all finished rows in their order.
  const oldestFirst = 'ORDER BY +seq';
  const all = sql.statement<InboxRow>(`${waiting} ${oldestFirst}`);
  const beside = sql.statement<InboxRow>(`${waiting} AND ${dialect.contains('queue', "'~'")} ${oldestFirst}`);
  // In text order, "0" comes right after "/", and DEL right after "~".
  const within = sql.statement<InboxRow>(
    `${waiting} AND queue >= ?1 AND queue < ?1 || '\u007f' AND (queue = ?1 OR queue > ?1 || '/' AND queue < ?1 || '0' OR queue > ?1 || '~')
     ORDER BY seq`,
  );
  const behind = sql.lookup<InboxRow>(
    `SELECT seq, key, parts, accepted_at FROM inbox
     WHERE status = 'waiting' AND queue = ?1 AND seq > CAST(?2 AS BIGINT)`,
    { most, order: 'seq' },
  );
  const dead = sql.statement<InboxRow>(
    `SELECT ${inboxColumns} FROM inbox WHERE status = 'dead' ORDER BY seq`,
  );
  const joinable = sql.lookup<InboxRow>(
    `SELECT parts FROM inbox WHERE join_key = ?1 AND queue = ?2 AND status = 'waiting' ORDER BY seq DESC LIMIT 1`,
    { most },
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
  const untake = sql.guarded(`UPDATE inbox SET taken_at = ?2 ${ofThis}`);
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

  async function take(queue: string, now: number): Promise<InboxItem | undefined> {
    for (;;) {
      const row = await own.takeHead(queue, now);
      if (row === undefined) return undefined;
      const read = await readItem(sql, row).catch(async (error: unknown) => {
        if (error instanceof NewerRow) await untake(row.key, row.taken_at);
        throw error;
      });
      if (read.ok) return read.value;
      await setAside(row.seq, `The stored message ${read.reason}`);
      log.error(
        { message: row.key, queue, reason: read.reason },
        'a stored message is damaged and was set aside',
      );
    }
  }

  function* stop({ items, pendingRequests = [] }: StopOrder): Steps<Stopped> {
    const now = clock.now();
    const cancelled = yield* cancel(pendingRequests, now);
    const changed = function* (change: SqlStatement): Steps<readonly string[]> {
      const answers = yield* each(items.map((key) => change(key, now)));
      return items.filter((_, n) => answers[n]?.changed === 1);
    };
    return { cancelled, dropped: yield* changed(dropUntaken), stopping: yield* changed(stopTaken) };
  }

  const list = async (rows: Promise<readonly InboxRow[]>) => (await rows).map(toListed);
  const byOperator = async (key: string, survives: 'power' | 'server', change: SqlCall) =>
    (await own.byOperator([key], survives, change, hasChanged)).changed > 0;

  return {
    beside,
    stop: (order) => own.byOperator(order.items, 'server', stop(order), ({ dropped }) => dropped.length > 0),
    inbox: {
      accept: own.accept,
      async begun(message, join) {
        const [item] = await joinable(join.key, conversationKey(message.conversation));
        return item && wholeOf(item.parts, message, join);
      },
      replace: own.replace,
      startWorker: own.startWorker,
      take,
      async takeAlong(key, now) {
        const [row] = (await takeAlong(key, now)).rows;
        // An unreadable row waits until it is first in its queue.
        if (row === undefined) return undefined;
        const read = await readItem(sql, { ...row, taken_at: null }).catch((error: unknown) => {
          if (error instanceof NewerRow) return undefined;
          throw error;
        });
        if (read?.ok === true) return read.value;
        await untake(key, null);
        return undefined;
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
      async untake({ key, interruptedAt }) {
        await untake(key, interruptedAt ?? null);
      },
      list: (status) => list(sql.read(status === 'dead' ? dead() : all())),
      beside: () => list(sql.read(beside())),
      waitingIn: (queue) => list(sql.read(within(queue))),
      behind: async ({ queue, seq }) =>
        (await behind(queue, String(seq))).map(({ key, parts, accepted_at: acceptedAt }) => ({
          key,
          acceptedAt,
          message: () => messageIn(parts),
        })),
      retry: (key) => byOperator(key, 'power', revive(key)),
      drop: (key) => byOperator(key, 'server', drop(key, clock.now())),
    },
  };
}

async function readItem(sql: Sql, row: InboxRow): Promise<ReadJson<InboxItem>> {
  const parts = await readShared(sql, storedItem, row.parts);
  if (!parts.ok) return parts;
  const { takenAt, ...item } = listedItem(row);
  return { ok: true, value: { ...item, interruptedAt: takenAt, message: joinMessages(parts.value) } };
}

export function toListed(row: InboxRow): ListedItem {
  return { ...listedItem(row), message: messageIn(row.parts) };
}

function messageIn(parts: string): Message | undefined {
  const stored = readStored(storedItem, parts);
  return stored.ok ? joinMessages(stored.value) : undefined;
}

function listedItem(row: InboxRow): Omit<ListedItem, 'message'> {
  return {
    key: row.key,
    seq: row.seq,
    queue: row.queue,
    status: row.status,
    tries: row.tries,
    error: row.error === null ? undefined : row.error,
    acceptedAt: row.accepted_at,
    takenAt: row.taken_at === null ? undefined : row.taken_at,
    stopped: row.stopped_at === null ? undefined : true,
  };
}
