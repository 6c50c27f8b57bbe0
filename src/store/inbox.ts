import type { Message } from '../core/message.ts';
import { joinMessages } from './grow-item.ts';
import type { ServeOptions, Serving } from './store.ts';
import { readStored, type ReadJson } from './stored-json.ts';
import { storedItem } from './stored-message.ts';

export const inboxColumns = 'seq, key, lane, parts, status, tries, error, accepted_at, taken_at, stopped_at';

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

/** The item that a row holds; a row whose message can't be read gives the reason. */
export function readItem(row: InboxRow): ReadJson<InboxItem> {
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

/** The item of a row that was taken a moment ago, beside the one of its lane (H11). What can't be read is left for its own turn. */
export function alongOf(row: InboxRow): InboxItem | undefined {
  const read = readItem({ ...row, taken_at: null });
  return read.ok ? read.value : undefined;
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
