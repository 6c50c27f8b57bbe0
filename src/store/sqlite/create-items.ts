import type { Join } from '../../core/join.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import { bounds } from '../bounds.ts';
import { editItem, completeItem, joinItem, writeItem } from '../grow-item.ts';
import { endItem, inboxColumns, itemOf, type InboxRow, type Inbox, type Accepted } from '../inbox.ts';
import type { SqliteParts } from './create-embedded-store.ts';
import { createSqliteWorker, type Bell, type DueTimes } from './create-worker.ts';
import type { SqliteConnection } from './open-connection.ts';
import { createRounds, type Rounds } from './create-rounds.ts';

/** Makes the SQLite part of the inbox. Its writes share transactions. */
export function createSqliteItems(
  { connection, batch, clock, log }: SqliteParts,
  { ring, onRing }: Bell,
): Readonly<{
  accept: Inbox['accept'];
  replace: Inbox['replace'];
  startWorker: Inbox['startWorker'];
  takeHead(queue: string, now: number): Promise<InboxRow | undefined>;
  /** Finishes an item inside a transaction, and returns its queue. */
  finish(key: string): string | undefined;
  /** Adds a message inside a transaction. A known key stays as it is. */
  add(message: Message, queue: string): void;
}> {
  const rounds = createRounds(connection);
  const { accept, add, replace } = createAccept(connection, rounds);
  const head = connection.prepare<InboxRow & Readonly<{ due_at: number; round: number }>>(
    `SELECT ${inboxColumns}, due_at, round FROM inbox WHERE status = 'waiting' AND queue = ? ORDER BY seq LIMIT 1`,
  );
  const taken = connection.prepare(
    'UPDATE inbox SET was_taken = 1, join_key = NULL, taken_at = ? WHERE seq = ?',
  );
  // `RETURNING` would make SQLite use a temporary table.
  const unfinished = connection.prepare<Readonly<{ seq: number; queue: string }>>(
    `SELECT seq, queue FROM inbox WHERE status IN ('waiting', 'dead') AND seq = ${itemOf('?')}`,
  );
  const end = connection.prepare(`${endItem('?')} WHERE seq = ?`);

  function takeHead(queue: string, now: number): InboxRow | undefined {
    const row = head.get(queue);
    if (row === undefined || row.due_at > now) return undefined;
    taken.run(now, row.seq);
    rounds.begin(queue, row.round);
    return row;
  }

  return {
    add: (message, queue) => add(message, queue, clock.now()),
    finish(key) {
      const item = unfinished.get(key);
      if (item !== undefined) end.run(clock.now(), item.seq);
      return item?.queue;
    },
    async accept(message, options) {
      const accepted = await batch.write('power', () => accept(message, options));
      if (accepted === 'stored' || accepted === 'merged') ring(conversationKey(message.conversation));
      return accepted;
    },
    // Runs after `accept`, because an edit may follow its message at once.
    replace: (message) => batch.write('power', () => replace(message)),
    takeHead: (queue, now) => batch.write('process', () => takeHead(queue, now)),
    startWorker: createSqliteWorker({
      ...createDue(connection),
      what: 'the inbox',
      onWork: onRing,
      clock,
      log,
    }),
  };
}

/** Which queues are due, and when the next one is. Reads the whole inbox. */
function createDue(connection: SqliteConnection): DueTimes {
  const dueQueues = (which: string) =>
    connection.prepare<Readonly<{ queue: string }>>(
      `SELECT queue FROM inbox AS head WHERE status = 'waiting' AND ${which} AND due_at <= ? AND NOT EXISTS (
         SELECT 1 FROM inbox WHERE status = 'waiting' AND queue = head.queue AND seq < head.seq
       ) ORDER BY round, seq LIMIT ?`,
    );
  const ownQueues = dueQueues(`instr(queue, '~') = 0`);
  const queuesBeside = dueQueues(`instr(queue, '~') > 0`);
  const next = connection.prepare<Readonly<{ at: number | null }>>(
    `SELECT MIN(due_at) AS at FROM inbox WHERE status = 'waiting' AND due_at > ?`,
  );
  const forward = connection.prepare(`UPDATE inbox SET due_at = ? WHERE status = 'waiting' AND due_at > ?`);

  return {
    due: (now, limit, beside) => ({
      queues: (beside ? queuesBeside : ownQueues).all(now, limit).map(({ queue }) => queue),
      nextAt: next.get(now)?.at ?? undefined,
    }),
    makeDueNow(now, beyond) {
      // A look has to work even if the store can't be written.
      if (next.get(beyond)?.at != null) connection.write('process', () => forward.run(now, beyond));
    },
  };
}

type Options = Parameters<Inbox['accept']>[1];

type Known = Readonly<{ seq: number; parts: string; status: string; was_taken: number }>;
type Joinable = Pick<Known, 'seq' | 'parts'>;

/** How messages are stored. Run these in a transaction (Q1, Q2). */
function createAccept(
  connection: SqliteConnection,
  rounds: Rounds,
): Readonly<{
  accept(message: Message, options: Options): Accepted;
  replace: (message: Message) => 'replaced' | 'too_late' | 'unknown';
  add(message: Message, queue: string, now: number): void;
}> {
  const known = connection.prepare<Known>(
    `SELECT seq, parts, status, was_taken FROM inbox WHERE seq = ${itemOf('?')}`,
  );
  const joinable = connection.prepare<Joinable>(
    `SELECT seq, parts FROM inbox WHERE join_key = ? AND queue = ? AND status = 'waiting' ORDER BY seq DESC LIMIT 1`,
  );
  const count = connection.prepare<Readonly<{ waiting: number }>>(
    `SELECT COUNT(*) AS waiting FROM inbox WHERE status = 'waiting' AND taken_at IS NULL AND queue = ?`,
  );
  const insert = connection.prepare(
    `INSERT INTO inbox (key, queue, parts, status, join_key, due_at, accepted_at, round)
     VALUES (?, ?, ?, 'waiting', ?, ?, ?, ?)`,
  );
  const rememberInserted = connection.prepare(
    'INSERT INTO inbox_keys (key, item) VALUES (?, last_insert_rowid())',
  );
  const remember = connection.prepare('INSERT INTO inbox_keys (key, item) VALUES (?, ?)');
  const write = connection.prepare('UPDATE inbox SET parts = ? WHERE seq = ?');

  function complete(twin: Message, { seq, parts }: Joinable): Accepted {
    const completed = completeItem(parts, twin);
    if (completed === undefined) return 'duplicate';
    write.run(completed, seq);
    return 'merged';
  }

  function grow(message: Message, queue: string, join: Join): boolean {
    const item = joinable.get(join.key, queue);
    const joined = item && joinItem(item.parts, message, join);
    if (!item || joined === undefined) return false;
    write.run(joined, item.seq);
    remember.run(message.id, item.seq);
    return true;
  }

  function store(message: Message, queue: string, more: { now: number; due: number; join?: string }): void {
    const round = rounds.next(queue, message.sender.id);
    insert.run(message.id, queue, writeItem(message), more.join ?? null, more.due, more.now, round);
    rememberInserted.run(message.id);
  }

  function accept(message: Message, { now, join }: Options): Accepted {
    const twin = known.get(message.id);
    if (twin) return twin.status === 'waiting' ? complete(message, twin) : 'duplicate';
    const queue = conversationKey(message.conversation);
    if (join && grow(message, queue, join)) return 'merged';
    if ((count.get(queue)?.waiting ?? 0) >= bounds.queueItems) return 'queue_full';
    const due = now + (join?.holdMs ?? 0);
    store(message, queue, { now, due, join: join?.key });
    return 'stored';
  }

  function replace(message: Message): 'replaced' | 'too_late' | 'unknown' {
    const item = known.get(message.id);
    if (item === undefined) return 'unknown';
    if (item.status !== 'waiting' || item.was_taken === 1) return 'too_late';
    const edited = editItem(item.parts, message);
    if (edited === undefined) return 'too_late';
    write.run(edited, item.seq);
    return 'replaced';
  }

  return {
    accept,
    replace,
    add(message, queue, now) {
      if (known.get(message.id) === undefined) store(message, queue, { now, due: now });
    },
  };
}
