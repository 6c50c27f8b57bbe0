import type Keyv from 'keyv';
import type { Part, Receipt } from '../core/channel.ts';
import type { Conversation } from '../core/conversation.ts';
import type { Entry } from '../core/entry.ts';
import type { Message } from '../core/message.ts';

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
}>;

/** An item as the operator sees it: one whose stored message can't be read any more has none. */
export type ListedItem = Omit<InboxItem, 'message'> & Readonly<{ message?: Message }>;

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
  /** Lanes with a due item, oldest first, `limit` at most; `nextAt` is when the next held or backed-off item becomes due. */
  due(now: number, limit?: number): Promise<Readonly<{ lanes: readonly string[]; nextAt?: number }>>;
  /**
   * The oldest waiting item of a lane, if it is due; the same one again until it is finished or set aside (Q5). Marks it
   * taken. An item that can't be read any more is set aside with the reason and the next one is given (Q11).
   */
  take(lane: string, now: number): Promise<InboxItem | undefined>;
  /**
   * Counts a failed try; the item is due again at `retryAt`, or set aside (dead) when there is none. Gives the tries so
   * far. An item that was finished meanwhile stays finished.
   */
  fail(key: string, error: string, retryAt: number | undefined): Promise<number>;
  /** Puts a waiting item off until `retryAt` without counting a try: the last one got somewhere (Q3). */
  postpone(key: string, error: string, retryAt: number): Promise<void>;
  list(status: 'waiting' | 'dead'): Promise<readonly ListedItem[]>;
  /** Puts a dead item back in its lane with no tries counted. False when there is none. */
  retry(key: string): Promise<boolean>;
  /** Marks a waiting or dead item as done without an answer. False when there is none. */
  drop(key: string): Promise<boolean>;
  /** Drops every waiting item of a lane but the one under way; for `/stop` and `/new`. Gives how many. */
  dropWaiting(lane: string, except: string | undefined): Promise<number>;
}>;

export type OutboxRow = Readonly<{
  /** Derived from message and part, so that writing it twice is writing it once: `ITEM#0`. */
  key: string;
  conversation: Conversation;
  part: Part;
  /** `sending`: handed to the platform, outcome not known (yet). */
  status: 'waiting' | 'sending' | 'sent' | 'dead';
  tries: number;
  /** Sends whose outcome was unknown and that were made again. */
  repeats: number;
}>;

/** Parts to be sent, in order within a conversation (Q6). */
export type Outbox = Readonly<{
  /**
   * The first unsent row of each conversation, if it is due; `nextAt` as for the inbox. A row in `sending` is always given:
   * the caller knows what it is sending itself, any other is left over from a process that ended.
   */
  due(now: number): Promise<Readonly<{ rows: readonly OutboxRow[]; nextAt?: number }>>;
  sending(key: string): Promise<void>;
  sent(key: string, receipt: Receipt): Promise<void>;
  retry(key: string, error: string, at: number): Promise<void>;
  /** Given up, with the reason; later rows of the conversation go on. */
  dead(key: string, error: string): Promise<void>;
  /** Counted sends whose outcome was unknown and that were repeated (Q6). */
  repeated(key: string): Promise<void>;
  /** Rows not sent or dead of a conversation. */
  pending(conversation: Conversation): Promise<number>;
}>;

export type StoredEntry = Readonly<{ seq: number; entry: Entry }>;

/** Append-only lists of entries: one per conversation, one per run (`run:ID`). Entries are added by `commit`. */
export type Transcripts = Readonly<{
  /** Id of the conversation's transcript in use: its key, until `/new` archives that one. */
  current(conversationKey: string): Promise<string>;
  /** A damaged entry is left out and counted (M7). */
  read(id: string): Promise<Readonly<{ entries: readonly StoredEntry[]; damaged: number }>>;
  /** Keeps the transcript in use under its id and takes a new unique one into use, without entries (M8). */
  archive(conversationKey: string): Promise<void>;
  /** Whether the bot ever answered in this conversation. */
  answered(conversationKey: string): Promise<boolean>;
}>;

/** Messages that the bot saw and was not meant by: background for a later turn (M10). */
export type Overheard = Readonly<{
  /** A message that is there already is left as it is. */
  add(message: Message, now: number): Promise<void>;
  /** Newest `limit` messages of a conversation since `since`, oldest first. */
  recent(conversationKey: string, limit: number, since: number): Promise<readonly Message[]>;
}>;

/** One step of a turn, committed as one transaction: all of it or nothing (Q8). */
export type Step = Readonly<{
  entries?: readonly Readonly<{ transcript: string; entry: Entry }>[];
  /** Rows whose key is there already are left as they are. */
  outbox?: readonly Readonly<{ key: string; conversation: Conversation; part: Part }>[];
  /** Inbox item that is finished by this step. */
  done?: string;
}>;

/** Everything that must outlive the process. Two implementations, one contract suite. */
export type Store = Readonly<{
  inbox: Inbox;
  outbox: Outbox;
  transcripts: Transcripts;
  overheard: Overheard;
  commit(step: Step): Promise<void>;
  /** Plain key and value on the same database: pairings, moved chats, caches. */
  keyed(namespace: string): Keyv;
  /**
   * Called after any write that may have made work for somebody else than its caller: `accept`, `commit`, `retry`, `drop`.
   * For wake-ups, not for truth. A listener must not throw.
   */
  onWork(listener: () => void): void;
  /** Removes what is past keeping: done keys after 7 days, overheard messages after 24 hours, sent and dead outbox rows after 7 days, expired keyed values. */
  prune(now: number): Promise<void>;
  close(): Promise<void>;
}>;
