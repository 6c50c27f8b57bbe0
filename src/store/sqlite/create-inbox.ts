import { conversationKey } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { bounds } from '../bounds.ts';
import { editItem, completeItem, joinItem, writeItem } from '../grow-item.ts';
import {
  alongOf,
  inboxColumns,
  readItem,
  toListed,
  type InboxRow,
  type Inbox,
  type InboxItem,
  type Accepted,
} from '../inbox.ts';
import type { Batch } from './create-batch.ts';
import { createServe, type Bell, type Due } from './create-serve.ts';
import type { Connection } from './open-connection.ts';
import type { Store } from '../store.ts';

/** The inbox, and what belongs inside the transaction of a step. */
type InboxWithin = Inbox &
  Readonly<{
    /** Gives the lane of an item that was there to be finished. */
    finish(key: string): string | undefined;
    add(message: Message, lane: string): void;
    addUnless(...of: Parameters<Store['addWork']>): string | undefined;
    /** Whether there was one to be dropped, or else to be marked. */
    dropUntaken(key: string): boolean;
    stopTaken(key: string): boolean;
  }>;

/** The inbox on the embedded store. `changed` is called after what may have made work. */
export function createInbox(
  connection: Connection,
  batch: Batch,
  clock: Clock,
  log: Log,
  { changed, onWork }: Readonly<{ changed: Bell['ring']; onWork: Bell['onRing'] }>,
): InboxWithin {
  const { accept, add } = createAccept(connection);
  const item = '(SELECT item FROM inbox_keys WHERE key = ?)';
  const dueLanes = (which: string) =>
    connection.prepare<Readonly<{ lane: string }>>(
      `SELECT lane FROM inbox AS head WHERE status = 'waiting' AND ${which} AND due_at <= ? AND NOT EXISTS (
         SELECT 1 FROM inbox WHERE status = 'waiting' AND lane = head.lane AND seq < head.seq
       ) ORDER BY seq LIMIT ?`,
    );
  const ownLanes = dueLanes(`instr(lane, '~') = 0`);
  const lanesBeside = dueLanes(`instr(lane, '~') > 0`);
  const next = connection.prepare<Readonly<{ at: number | null }>>(
    `SELECT MIN(due_at) AS at FROM inbox WHERE status = 'waiting' AND due_at > ?`,
  );
  const head = connection.prepare<InboxRow & Readonly<{ due_at: number }>>(
    `SELECT ${inboxColumns}, due_at FROM inbox WHERE status = 'waiting' AND lane = ? ORDER BY seq LIMIT 1`,
  );
  const taken = connection.prepare(
    'UPDATE inbox SET was_taken = 1, join_key = NULL, taken_at = ? WHERE seq = ?',
  );
  const takenAlong = connection.prepare<InboxRow>(
    `UPDATE inbox SET was_taken = 1, join_key = NULL, taken_at = ?1
     WHERE status = 'waiting' AND stopped_at IS NULL AND due_at <= ?1 AND seq = (SELECT item FROM inbox_keys WHERE key = ?2)
     RETURNING ${inboxColumns}`,
  );
  const failed = connection.prepare<Readonly<{ tries: number }>>(
    `UPDATE inbox SET status = ?, tries = tries + 1, error = ?, due_at = ?, taken_at = NULL
     WHERE status = 'waiting' AND seq = ${item} RETURNING tries`,
  );
  const postponed = connection.prepare(
    `UPDATE inbox SET error = ?, due_at = ?, taken_at = NULL WHERE status = 'waiting' AND seq = ${item}`,
  );
  const forward = connection.prepare(`UPDATE inbox SET due_at = ? WHERE status = 'waiting' AND due_at > ?`);
  const triesOf = connection.prepare<Readonly<{ tries: number }>>(
    `SELECT tries FROM inbox WHERE seq = ${item}`,
  );
  const setAside = connection.prepare(`UPDATE inbox SET status = 'dead', error = ? WHERE seq = ?`);
  const waiting = connection.prepare<InboxRow>(
    `SELECT ${inboxColumns} FROM inbox WHERE status = 'waiting' ORDER BY seq`,
  );
  const dead = connection.prepare<InboxRow>(
    `SELECT ${inboxColumns} FROM inbox WHERE status = 'dead' ORDER BY seq`,
  );
  // "0" comes after "/", and DEL after "~".
  const within = connection.prepare<InboxRow>(
    `SELECT ${inboxColumns} FROM inbox WHERE status = 'waiting' AND +seq > ?2 AND lane >= ?1 AND lane < ?1 || char(127)
       AND (lane = ?1 OR lane > ?1 || '/' AND lane < ?1 || '0' OR lane > ?1 || '~') ORDER BY seq`,
  );
  const beside = connection.prepare<InboxRow>(
    `SELECT ${inboxColumns} FROM inbox WHERE status = 'waiting' AND instr(lane, '~') > 0 ORDER BY seq`,
  );
  const revive = connection.prepare(
    `UPDATE inbox SET status = 'waiting', tries = 0, error = NULL, due_at = 0, taken_at = NULL, stopped_at = NULL
     WHERE status = 'dead' AND seq = ${item}`,
  );
  const end = `UPDATE inbox SET status = 'done', parts = '', finished_at = ?, join_key = NULL, taken_at = NULL`;
  const drop = connection.prepare(`${end} WHERE status IN ('waiting', 'dead') AND seq = ${item}`);
  const finished = connection.prepare<Readonly<{ lane: string }>>(
    `${end} WHERE status IN ('waiting', 'dead') AND seq = ${item} RETURNING lane`,
  );
  const dropUntaken = connection.prepare(
    `${end} WHERE status = 'waiting' AND taken_at IS NULL AND seq = ${item}`,
  );
  const stopTaken = connection.prepare(
    `UPDATE inbox SET stopped_at = ? WHERE status = 'waiting' AND seq = ${item}`,
  );
  const known = connection.prepare<
    Readonly<{ seq: number; status: string; was_taken: number; parts: string }>
  >(`SELECT seq, status, was_taken, parts FROM inbox WHERE seq = ${item}`);
  const rewrite = connection.prepare('UPDATE inbox SET parts = ? WHERE seq = ?');

  function take(lane: string, now: number): InboxItem | undefined {
    for (;;) {
      const row = head.get(lane);
      if (row === undefined || row.due_at > now) return undefined;
      const read = readItem(row);
      if (read.ok) {
        taken.run(now, row.seq);
        return read.value;
      }
      setAside.run(`The stored message ${read.reason}`, row.seq);
      log.error(
        { message: row.key, lane, reason: read.reason },
        'a stored message is damaged and was set aside',
      );
    }
  }

  function replace(message: Message): 'replaced' | 'too_late' | 'unknown' {
    const row = known.get(message.id);
    if (row === undefined) return 'unknown';
    if (row.status !== 'waiting' || row.was_taken === 1) return 'too_late';
    const edited = editItem(row.parts, message);
    if (edited === undefined) return 'too_late';
    rewrite.run(edited, row.seq);
    return 'replaced';
  }

  const bringForward = (now: number, beyond: number): void => {
    // A store that can't be written is still looked at.
    if (next.get(beyond)?.at != null) connection.write('process', () => forward.run(now, beyond));
  };
  const due: Due = (now, limit, beside) => {
    const at = next.get(now)?.at ?? undefined;
    return {
      lanes: (beside ? lanesBeside : ownLanes).all(now, limit).map(({ lane }) => lane),
      nextAt: at,
    };
  };

  return {
    add: (message, lane) => add(message, lane, clock.now()),
    addUnless({ lane, message }, refuse) {
      if (known.get(message.id) !== undefined) return undefined;
      const refused = refuse(beside.all().map(toListed));
      if (refused === undefined) add(message, lane, clock.now());
      return refused;
    },
    finish: (key) => finished.get(clock.now(), key)?.lane,
    dropUntaken: (key) => dropUntaken.run(clock.now(), key) > 0,
    stopTaken: (key) => stopTaken.run(clock.now(), key) > 0,
    async accept(message, options) {
      const accepted = await batch.write('power', () => accept(message, options));
      if (accepted === 'stored' || accepted === 'merged') changed(conversationKey(message.conversation));
      return accepted;
    },
    // Behind what is being accepted: an edit may follow its message at once.
    replace: (message) => batch.write('power', () => replace(message)),
    serve: createServe({ due, bringForward, what: 'the inbox', onWork, clock, log }),
    take: (lane, now) => batch.write('process', () => take(lane, now)),
    takeAlong: (key, now) =>
      batch.write('process', () => {
        const row = takenAlong.get(now, key);
        return row && alongOf(row);
      }),
    async fail(key, error, retryAt) {
      const status = retryAt === undefined ? 'dead' : 'waiting';
      return connection.write('process', () => {
        const row = failed.get(status, error, retryAt ?? 0, key) ?? triesOf.get(key);
        return row?.tries ?? 0;
      });
    },
    async postpone(key, error, retryAt) {
      connection.write('process', () => postponed.run(error, retryAt, key));
    },
    list: async (status) => (status === 'dead' ? dead : waiting).all().map(toListed),
    beside: async () => beside.all().map(toListed),
    waitingIn: async (lane, after = 0) => within.all(lane, after).map(toListed),
    async retry(key) {
      const revived = connection.write('power', () => revive.run(key)) > 0;
      if (revived) changed();
      return revived;
    },
    async drop(key) {
      const dropped = connection.write('process', () => drop.run(clock.now(), key)) > 0;
      if (dropped) changed();
      return dropped;
    },
  };
}

type Options = Parameters<Inbox['accept']>[1];

type Waiting = Readonly<{ seq: number; parts: string }>;

/** The steps of `Inbox.accept` and of adding work to a lane, to be run inside one transaction (Q1, Q2). */
function createAccept(connection: Connection): Readonly<{
  accept(message: Message, options: Options): Accepted;
  /** A known key is left as it is. */
  add(message: Message, lane: string, now: number): void;
}> {
  const known = connection.prepare<Waiting & Readonly<{ status: string }>>(
    'SELECT seq, parts, status FROM inbox WHERE seq = (SELECT item FROM inbox_keys WHERE key = ?)',
  );
  const joinable = connection.prepare<Waiting>(
    `SELECT seq, parts FROM inbox WHERE join_key = ? AND lane = ? AND status = 'waiting' ORDER BY seq DESC LIMIT 1`,
  );
  const count = connection.prepare<Readonly<{ waiting: number }>>(
    `SELECT COUNT(*) AS waiting FROM inbox WHERE status = 'waiting' AND taken_at IS NULL AND lane = ?`,
  );
  const insert = connection.prepare<Readonly<{ seq: number }>>(
    `INSERT INTO inbox (key, lane, parts, status, join_key, due_at, accepted_at)
     VALUES (?, ?, ?, 'waiting', ?, ?, ?) RETURNING seq`,
  );
  const remember = connection.prepare('INSERT INTO inbox_keys (key, item) VALUES (?, ?)');
  const write = connection.prepare('UPDATE inbox SET parts = ? WHERE seq = ?');

  function complete(twin: Message, { seq, parts }: Waiting): Accepted {
    const completed = completeItem(parts, twin);
    if (completed === undefined) return 'duplicate';
    write.run(completed, seq);
    return 'merged';
  }

  function join(message: Message, lane: string, { key, glue }: NonNullable<Options['join']>): boolean {
    const item = joinable.get(key, lane);
    const joined = item && joinItem(item.parts, message, glue);
    if (!item || joined === undefined) return false;
    write.run(joined, item.seq);
    remember.run(message.id, item.seq);
    return true;
  }

  function store(message: Message, lane: string, more: { now: number; due: number; join?: string }): void {
    const item = insert.get(message.id, lane, writeItem(message), more.join ?? null, more.due, more.now);
    if (!item) throw new Error(`The store gave no number to ${message.id}`);
    remember.run(message.id, item.seq);
  }

  function accept(message: Message, { now, join: wanted }: Options): Accepted {
    const twin = known.get(message.id);
    if (twin) return twin.status === 'waiting' ? complete(message, twin) : 'duplicate';
    const lane = conversationKey(message.conversation);
    if (wanted && join(message, lane, wanted)) return 'merged';
    if ((count.get(lane)?.waiting ?? 0) >= bounds.laneItems) return 'lane_full';
    const due = now + (wanted?.holdMs ?? 0);
    store(message, lane, { now, due, join: wanted?.key });
    return 'stored';
  }

  return {
    accept,
    add(message, lane, now) {
      if (known.get(message.id) === undefined) store(message, lane, { now, due: now });
    },
  };
}
