import type Keyv from 'keyv';
import type { Part, Receipt } from '../core/channel.ts';
import type { Conversation } from '../core/conversation.ts';
import type { Entry } from '../core/entry.ts';
import type { Message } from '../core/message.ts';
import type { Asks } from './asks.ts';
import type { Tokens } from '../core/model.ts';
import type { Backlog } from './backlog.ts';
import type { CapabilityRecords } from './capability-records.ts';
import type { StopOrder, Stopped } from './stop-order.ts';

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

/** Lanes of one kind of work (messages to answer, parts to send), each given to one taker at a time, whichever process that is in (Q9). */
export type ServeOptions = Readonly<{
  /** Channels whose lanes this process can work in; with `~` behind a name, the lanes beside that channel's conversations. */
  channels: readonly string[];
  /** Lanes side by side. */
  concurrency: number;
  /**
   * Works on the head of a lane once. Called for every lane with something due, oldest first, and again as long as
   * something of it is due. `lost` is aborted when another process may have the lane by now: what is written under it
   * after that is refused. Must not reject: then the lane is given out again after a second.
   */
  run(lane: string, lost: AbortSignal): Promise<void>;
}>;

export type Serving = Readonly<{
  /** Looks for due lanes now. */
  wake(): void;
  /** Resolves when no lane is being worked in here and none that is served here is due. */
  idle(): Promise<void>;
  /** Gives out nothing more, at once; resolves when what was given out has ended. */
  stop(): Promise<void>;
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
   * Counts a failed try; the item is due again at `retryAt`, or set aside (dead) when there is none. Gives the tries so
   * far. An item that was finished meanwhile stays finished.
   */
  fail(key: string, error: string, retryAt: number | undefined): Promise<number>;
  /** Puts a waiting item off until `retryAt` without counting a try: the last one got somewhere (Q3). */
  postpone(key: string, error: string, retryAt: number): Promise<void>;
  list(status: 'waiting' | 'dead'): Promise<readonly ListedItem[]>;
  /** What waits in a lane and in lanes that begin with it and `/` (threads) or `~` (work beside it), oldest first. */
  waitingIn(lane: string): Promise<readonly ListedItem[]>;
  /** Everything that waits in lanes beside conversations: runs (U9). */
  beside(): Promise<readonly ListedItem[]>;
  /** Puts a dead item back in its lane with no tries counted. False when there is none. */
  retry(key: string): Promise<boolean>;
  /** Marks a waiting or dead item as done without an answer. False when there is none. */
  drop(key: string): Promise<boolean>;
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
  /** What the platform shows in its place already: the row is delivered as an edit of it. */
  shown?: Receipt;
}>;

/** A part that was given up, as the operator sees it. */
export type DeadPart = Readonly<{
  key: string;
  /** Key of its conversation. */
  lane: string;
  error: string;
  at: number;
}>;

/** Parts to be sent, in order within a conversation (Q6). */
export type Outbox = Readonly<{
  /** Gives out conversations with a row to send until it is stopped. */
  serve(options: ServeOptions): Serving;
  /**
   * The first unsent row of a conversation (its key is the lane), if it is due. A row in `sending` is left over from a
   * process that ended. One that can't be read any more is given up with the reason and the next one is given (Q11).
   */
  next(lane: string, now: number): Promise<OutboxRow | undefined>;
  sending(key: string): Promise<void>;
  sent(key: string, receipt: Receipt): Promise<void>;
  retry(key: string, error: string, at: number): Promise<void>;
  /** Given up, with the reason; later rows of the conversation go on. */
  dead(key: string, error: string): Promise<void>;
  /** Counted sends whose outcome was unknown and that were repeated (Q6). */
  repeated(key: string): Promise<void>;
  /** Parts that were given up and are still kept, oldest first. */
  givenUp(): Promise<readonly DeadPart[]>;
  /** Sends a given-up part after all, with no tries counted. False when there is none. */
  revive(key: string): Promise<boolean>;
  /** Rows not sent or dead of a conversation. */
  pending(conversation: Conversation): Promise<number>;
  /** Remembers what the platform shows in place of a row that is still to be written (a status line, a preview), so that a restart finds it (Q6); without a receipt forgets it. */
  show(key: string, receipt: Receipt | undefined): Promise<void>;
  shown(key: string): Promise<Receipt | undefined>;
  /** What the platform calls a part that was sent; nothing for any other. */
  receipt(key: string): Promise<Receipt | undefined>;
}>;

export type StoredEntry = Readonly<{ seq: number; entry: Entry }>;

/** Append-only lists of entries: one per conversation, one per run (its parent's id and `#run:ID`). Entries are added by `commit`. */
export type Transcripts = Readonly<{
  /** Id of the conversation's transcript in use: its key, until `/new` archives that one. */
  current(conversationKey: string): Promise<string>;
  /** From the newest `summary` entry on: the entries it keeps verbatim, itself, and what came after (M9). A damaged entry is left out and counted (M7). */
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

/** One use of a model, to be added to the sums. */
export type Use = Omit<UsageRow, 'requests'>;

/** One step of a turn, committed as one transaction: all of it or nothing (Q8). */
export type Step = Readonly<{
  entries?: readonly Readonly<{ transcript: string; entry: Entry }>[];
  /** Rows whose key is there already are left as they are. */
  outbox?: readonly Readonly<{ key: string; conversation: Conversation; part: Part }>[];
  /** Work for lanes beside the conversation's own (`lane` is its key, `~` and a name): background runs (U9). A known key is left as it is. */
  work?: readonly Readonly<{ lane: string; message: Message }>[];
  usage?: readonly Use[];
  /** Inbox item that is finished by this step. */
  done?: string;
}>;

/** Words between the processes on one store: that something changed, for whom it concerns. Hints, never truth: a process that is cut off for a moment misses them. */
export type Signals = Readonly<{
  /** Reaches the listeners of every process, this one included. `text` is at most 7,000 bytes. */
  send(topic: Topic, text: string): Promise<void>;
  /** A listener must not throw. Gives what ends it. */
  on(topic: Topic, listener: (text: string) => void): () => void;
}>;

/**
 * `stop`: an inbox item (its key) is to end. `reload`: skills and config are to be read again. `answer`: an ask (its id) was settled. `moved`: a chat got a new id. `set`: a tool's secret was set. `mcp`: the operator agreed to tools of a server (its name).
 * Of a run, by its id: `asking`: it waits for a person; `progress`: what it does (after the id); `ended`: its result is in its conversation's inbox.
 */
const ofRuns = ['asking', 'progress', 'ended'] as const;
export const topics = ['stop', 'reload', 'answer', 'moved', 'set', 'mcp', ...ofRuns] as const;
export type Topic = (typeof topics)[number];

/** Tokens that were used, summed by day (UTC, `2026-11-22`), who, where, skill (empty: the main agent) and model. */
export type UsageRow = Readonly<{
  day: string;
  sender: string;
  conversation: string;
  skill: string;
  model: string;
  requests: number;
  tokens: Tokens;
}>;

/** What `forget` removed. */
export type Forgotten = Readonly<{
  messages: number;
  entries: number;
  outbox: number;
  usage: number;
  asks: number;
  /** Keys of conversations that went whole. */
  places: readonly string[];
  /** Ids of files that were to be sent to them. */
  files: readonly string[];
}>;

/** `count` uses at once, then one every `ms`, counted under `key`. */
export type SharedLimit = Readonly<{ key: string; count: number; ms: number }>;

/** At most `most` uses in any `ms`, counted under `key`. */
export type UseLimit = Readonly<{ key: string; most: number; ms: number }>;

/** Everything that must outlive the process. Two implementations, one contract suite. */
export type Store = Readonly<{
  inbox: Inbox;
  outbox: Outbox;
  transcripts: Transcripts;
  overheard: Overheard;
  asks: Asks;
  capabilities: CapabilityRecords;
  signals: Signals;
  /** Rejects, writing nothing, where the lane it is called for was lost to another process. */
  commit(step: Step): Promise<void>;
  /** Stops all of it in one transaction (T8). */
  stop(order: StopOrder): Promise<Stopped>;
  /** Plain key and value on the same database: pairings, moved chats, caches. */
  keyed(namespace: string): Keyv;
  /** Sums of a day, or of all days that are kept; of one sender where one is named. */
  usage(of: Readonly<{ day?: string; sender?: string }>): Promise<readonly UsageRow[]>;
  /**
   * Resolves when this process is the only one that does `what` (polling Telegram), with a signal that is aborted when it
   * may no longer be. Where the holder dies another is let in within 30 s. Rejects with the reason of `until` when that is aborted.
   */
  lead(what: string, until: AbortSignal): Promise<AbortSignal>;
  /**
   * Counts one use against limits that all processes share, and gives in how many milliseconds it may happen (0: now). It
   * is counted either way. With one owner there is nothing to share: 0.
   */
  reserve(limits: readonly SharedLimit[]): Promise<number>;
  /**
   * Counts a use under every key, once for an `id` however often it is asked for, unless a limit is reached: then nothing is
   * counted, and it is said which, and when there is room again (U10). The same over restarts and processes.
   */
  countUse(
    id: string,
    limits: readonly UseLimit[],
  ): Promise<Readonly<{ key: string; freeAt: number }> | undefined>;
  /**
   * Removes what is past keeping: done keys, sent and dead outbox rows, settled asks and outcomes of capabilities after 7 days,
   * overheard messages and sign-ins after one, expired keyed values; and conversations without a new entry, dead items and usage after `retentionMs` (Q12).
   */
  prune(now: number, retentionMs: number): Promise<void>;
  /** Removes a person's messages and what was answered to them: their direct messages whole, in groups their turns; what others quoted of them too (Q12). */
  forget(sender: string): Promise<Forgotten>;
  /**
   * Writes a consistent copy to a new file (0600) while the store is in use, whole or not at all (Q10); `onProgress` is told
   * how far it is, in steps of any size. Throws OperatorError where the file is there already or can't be written, and where
   * this store can't, naming what can.
   */
  backup(file: string, onProgress?: (done: number, total: number) => void): Promise<void>;
  /** Counted from indexes: cheap enough to be asked every few seconds. */
  backlog(): Promise<Backlog>;
  /** Rejects with the reason while the database can't be read and written (Q11). */
  check(): Promise<void>;
  close(): Promise<void>;
}>;
