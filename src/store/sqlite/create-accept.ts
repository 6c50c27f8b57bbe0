import { conversationKey } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import { bounds } from '../bounds.ts';
import { completeItem, joinItem, writeItem } from '../grow-item.ts';
import type { Accepted, Inbox } from '../inbox.ts';
import type { Connection } from './open-connection.ts';

type Options = Parameters<Inbox['accept']>[1];
type Waiting = Readonly<{ seq: number; parts: string }>;

/** The steps of `Inbox.accept` and of adding work to a lane, to be run inside one transaction (Q1, Q2). */
export function createAccept(connection: Connection): Readonly<{
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
    store(message, lane, { now, due, ...(wanted === undefined ? {} : { join: wanted.key }) });
    return 'stored';
  }

  return {
    accept,
    add(message, lane, now) {
      if (known.get(message.id) === undefined) store(message, lane, { now, due: now });
    },
  };
}
