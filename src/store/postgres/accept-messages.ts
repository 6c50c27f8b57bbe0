import { conversationKey } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import { bounds } from '../bounds.ts';
import { completeItem, editItem, joinItem, writeItem } from '../grow-item.ts';
import type { Accepted, Inbox } from '../inbox.ts';
import type { Query } from './open-database.ts';
import { jobQueueOf } from './job-queue-of.ts';

export type Arrival =
  | Readonly<{ type: 'accept'; message: Message; options: Parameters<Inbox['accept']>[1] }>
  | Readonly<{ type: 'replace'; message: Message }>;
export type Arrived = Accepted | 'replaced' | 'too_late' | 'unknown';

/** An item as one transaction changes it. A new one has no `seq`. */
type Item = {
  readonly seq?: number;
  readonly key: string;
  readonly queue: string;
  /** Undefined if the item was read from the database. */
  readonly person?: string;
  readonly status: string;
  readonly taken: boolean;
  readonly join?: string;
  readonly due: number;
  readonly now: number;
  parts: string;
  changed: boolean;
};
type Row = Readonly<{
  item_key: string;
  seq: number;
  queue: string;
  parts: string;
  status: string;
  was_taken: boolean;
}>;

/**
 * Handles several `accept` and `replace` calls in order, in a transaction that locks their queues (Q1, Q2). A burst
 * needs as many statements as one message.
 */
export async function acceptMessages(
  query: Query,
  arrivals: readonly Arrival[],
): Promise<readonly Arrived[]> {
  const read = oneOfEach();
  const [items, joinable, waiting] = await Promise.all([
    readKnown(query, arrivals, read),
    readJoinable(query, arrivals, read),
    countWaiting(query, arrivals),
  ]);
  const keys: { key: string; item: Item }[] = [];
  const created: Item[] = [];

  function remember(key: string, item: Item): void {
    items.set(key, item);
    keys.push({ key, item });
  }

  function accept(message: Message, { now, join }: Parameters<Inbox['accept']>[1]): Accepted {
    const twin = items.get(message.id);
    if (twin) {
      const completes = twin.status === 'waiting' && change(twin, completeItem(twin.parts, message));
      return completes ? 'merged' : 'duplicate';
    }
    const queue = conversationKey(message.conversation);
    const place = join && `${join.key} ${queue}`;
    const open = place === undefined ? undefined : joinable.get(place);
    if (join && open && change(open, joinItem(open.parts, message, join))) {
      remember(message.id, open);
      return 'merged';
    }
    const count = waiting.get(queue) ?? 0;
    if (count >= bounds.queueItems) return 'queue_full';
    waiting.set(queue, count + 1);
    const item = newItem(message, queue, { now, join });
    created.push(item);
    remember(message.id, item);
    if (place !== undefined) joinable.set(place, item);
    return 'stored';
  }

  function replace(message: Message): 'replaced' | 'too_late' | 'unknown' {
    const item = items.get(message.id);
    if (item === undefined) return 'unknown';
    if (item.status !== 'waiting' || item.taken) return 'too_late';
    return change(item, editItem(item.parts, message)) ? 'replaced' : 'too_late';
  }

  const results = arrivals.map((arrival) =>
    arrival.type === 'accept' ? accept(arrival.message, arrival.options) : replace(arrival.message),
  );
  await insertItems(query, created, keys);
  await rewrite(query, [...new Set([...items.values(), ...joinable.values()])]);
  return results;
}

function newItem(message: Message, queue: string, { now, join }: Parameters<Inbox['accept']>[1]): Item {
  return {
    key: message.id,
    queue,
    person: personInQueue(queue, message),
    status: 'waiting',
    taken: false,
    join: join?.key,
    due: now + (join?.holdMs ?? 0),
    now,
    parts: writeItem(message),
    changed: false,
  };
}

/** Changes the text of an item, unless there is nothing to change. */
function change(item: Item, parts: string | undefined): boolean {
  if (parts === undefined) return false;
  item.parts = parts;
  item.changed = true;
  return true;
}

/** The key under which a person's messages count in a job queue, whose name has no space (Q3). */
export function personInQueue(queue: string, { sender }: Message): string {
  return `${jobQueueOf('inbox', queue)} ${sender.id}`;
}

/** Adds work in a transaction that locks the queues. A known key stays as it is. */
export async function addWork(
  query: Query,
  work: readonly Readonly<{ queue: string; message: Message }>[],
  now: number,
): Promise<void> {
  if (work.length === 0) return;
  const messages = work.map(({ message }) => ({ message }));
  const known = await readKnown(query, messages, oneOfEach());
  const created = new Map<string, Item>();
  for (const { queue, message } of work) {
    if (known.has(message.id) || created.has(message.id)) continue;
    const parts = writeItem(message);
    created.set(message.id, {
      key: message.id,
      queue,
      person: personInQueue(queue, message),
      status: 'waiting',
      taken: false,
      due: now,
      now,
      parts,
      changed: false,
    });
  }
  await insertItems(
    query,
    [...created.values()],
    [...created].map(([key, item]) => ({ key, item })),
  );
}

/** Reads known items and locks them, so that a process which takes one waits for what arrives for it. */
async function readKnown(
  query: Query,
  of: readonly Readonly<{ message: Message }>[],
  read: ReadItem,
): Promise<Map<string, Item>> {
  const { rows } = await query<Row & Readonly<{ key: string }>>(
    `SELECT k.key, i.key AS item_key, i.seq, i.queue, i.parts, i.status, i.was_taken FROM skillet.inbox_keys k
     JOIN skillet.inbox i ON i.seq = k.item WHERE k.key = ANY($1) ORDER BY i.seq FOR UPDATE OF i`,
    [of.map(({ message }) => message.id)],
  );
  return new Map(rows.map((row) => [row.key, read(row)]));
}

async function readJoinable(
  query: Query,
  arrivals: readonly Arrival[],
  read: ReadItem,
): Promise<Map<string, Item>> {
  const keys = arrivals.flatMap((one) =>
    one.type === 'accept' && one.options.join ? [one.options.join.key] : [],
  );
  if (keys.length === 0) return new Map();
  const { rows } = await query<Row & Readonly<{ join_key: string }>>(
    `SELECT join_key, key AS item_key, seq, queue, parts, status, was_taken FROM skillet.inbox WHERE seq IN (
       SELECT max(seq) FROM skillet.inbox WHERE join_key = ANY($1) AND status = 'waiting' GROUP BY join_key, queue
     ) AND status = 'waiting' ORDER BY seq FOR UPDATE`,
    [keys],
  );
  return new Map(rows.map((row) => [`${row.join_key} ${row.queue}`, read(row)]));
}

async function countWaiting(query: Query, arrivals: readonly Arrival[]): Promise<Map<string, number>> {
  const { rows } = await query<Readonly<{ queue: string; waiting: number }>>(
    `SELECT queue, count(*) AS waiting FROM skillet.inbox
     WHERE status = 'waiting' AND taken_at IS NULL AND queue = ANY($1) GROUP BY queue`,
    [arrivals.map(({ message }) => conversationKey(message.conversation))],
  );
  return new Map(rows.map(({ queue, waiting }) => [queue, waiting]));
}

/** Makes one object for each row, so that changes by two messages add up. */
type ReadItem = (row: Row) => Item;

function oneOfEach(): ReadItem {
  const items = new Map<number, Item>();
  return ({ item_key, seq, queue, parts, status, was_taken }) => {
    const known = items.get(seq);
    if (known !== undefined) return known;
    const item = {
      seq,
      key: item_key,
      queue,
      status,
      taken: was_taken,
      due: 0,
      now: 0,
      parts,
      changed: false,
    };
    items.set(seq, item);
    return item;
  };
}

async function insertItems(
  query: Query,
  created: readonly Item[],
  keys: readonly Readonly<{ key: string; item: Item }>[],
): Promise<void> {
  if (keys.length === 0) return;
  await query(
    `WITH added AS (
       INSERT INTO skillet.inbox (key, queue, parts, status, join_key, due_at, accepted_at, person, round)
       SELECT key, queue, parts, 'waiting', join_key, due_at, accepted_at, person,
         skillet.next_round(split_part(person, ' ', 1), person)
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $10::text[])
         WITH ORDINALITY AS new (key, queue, parts, join_key, due_at, accepted_at, person, place)
       ORDER BY place RETURNING seq, key
     )
     INSERT INTO skillet.inbox_keys (key, item)
     SELECT one.key, coalesce(one.item, added.seq) FROM unnest($7::text[], $8::bigint[], $9::text[]) AS one (key, item, of)
     LEFT JOIN added ON added.key = one.of`,
    [
      created.map(({ key }) => key),
      created.map(({ queue }) => queue),
      created.map(({ parts }) => parts),
      created.map(({ join }) => join ?? null),
      created.map(({ due }) => due),
      created.map(({ now }) => now),
      keys.map(({ key }) => key),
      keys.map(({ item }) => item.seq ?? null),
      keys.map(({ item }) => item.key),
      created.map(({ person }) => person ?? null),
    ],
  );
}

async function rewrite(query: Query, items: readonly Item[]): Promise<void> {
  const changed = items.filter((item) => item.changed && item.seq !== undefined);
  if (changed.length === 0) return;
  await query(
    `UPDATE skillet.inbox SET parts = new.parts FROM unnest($1::bigint[], $2::text[]) AS new (seq, parts)
     WHERE inbox.seq = new.seq`,
    [changed.map(({ seq }) => seq), changed.map(({ parts }) => parts)],
  );
}
