import { conversationKey } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import { bounds } from '../bounds.ts';
import type { ItemPart } from '../join-messages.ts';
import type { Accepted, Inbox } from '../store.ts';
import { readStored } from '../stored-json.ts';
import { storedItem } from '../stored-message.ts';
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
    `SELECT COUNT(*) AS waiting FROM inbox WHERE status = 'waiting' AND lane = ?`,
  );
  const insert = connection.prepare<Readonly<{ seq: number }>>(
    `INSERT INTO inbox (key, lane, parts, status, join_key, due_at, accepted_at)
     VALUES (?, ?, ?, 'waiting', ?, ?, ?) RETURNING seq`,
  );
  const remember = connection.prepare('INSERT INTO inbox_keys (key, item) VALUES (?, ?)');
  const write = connection.prepare('UPDATE inbox SET parts = ? WHERE seq = ?');

  function complete(twin: Message, { seq, parts }: Waiting): Accepted {
    const stored = readStored(storedItem, parts);
    if (!stored.ok || twin.chatType === 'unknown') return 'duplicate';
    const gap = ({ message }: ItemPart) => message.id === twin.id && message.chatType === 'unknown';
    if (!stored.value.some(gap)) return 'duplicate';
    const completed = stored.value.map((part) =>
      gap(part) ? { ...part, message: withTypeOf(twin, part.message) } : part,
    );
    write.run(JSON.stringify(completed), seq);
    return 'merged';
  }

  function join(message: Message, lane: string, { key, glue }: NonNullable<Options['join']>): boolean {
    const item = joinable.get(key, lane);
    const stored = item && readStored(storedItem, item.parts);
    if (!item || !stored?.ok || stored.value.length >= bounds.joinedMessages) return false;
    if (stored.value[0].message.sender.id !== message.sender.id) return false;
    write.run(JSON.stringify([...stored.value, { message, glue }]), item.seq);
    remember.run(message.id, item.seq);
    return true;
  }

  function store(message: Message, lane: string, more: { now: number; due: number; join?: string }): void {
    const parts: readonly ItemPart[] = [{ message, glue: '' }];
    const item = insert.get(message.id, lane, JSON.stringify(parts), more.join ?? null, more.due, more.now);
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

/** Only what decides is taken, and only towards refusing: a room that either twin calls shared is shared. */
function withTypeOf(twin: Message, message: Message): Message {
  return { ...message, chatType: twin.chatType, external: message.external || twin.external };
}
