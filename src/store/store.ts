import type Keyv from 'keyv';
import type { Part } from '../core/channel.ts';
import type { Conversation } from '../core/conversation.ts';
import type { Entry } from '../core/entry.ts';
import type { Message } from '../core/message.ts';
import type { Tokens } from '../core/model.ts';
import type { PendingRequests } from './pending-requests.ts';
import type { CapabilityRecords } from './capability-records.ts';
import type { Inbox, ListedItem } from './inbox.ts';
import type { Outbox } from './outbox.ts';
import type { GroupContext } from './group-context.ts';
import type { Signals } from './signals.ts';

/** A message for a lane that is no conversation's own. */
export type Work = Readonly<{ lane: string; message: Message }>;

/** One step of a turn, committed as one transaction: all of it or nothing (Q8). */
export type Step = Readonly<{
  entries?: readonly Readonly<{ transcript: string; entry: Entry }>[];
  /** Rows whose key is there already are left as they are. */
  outbox?: readonly Readonly<{ key: string; conversation: Conversation; part: Part }>[];
  /** Work for lanes beside the conversation's own (`lane` is its key, `~` and a name): background runs (U9). A known key is left as it is. */
  work?: readonly Work[];
  usage?: readonly Use[];
  /** Inbox item that is finished by this step. */
  done?: string;
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
  overheard: GroupContext;
  asks: PendingRequests;
  capabilities: CapabilityRecords;
  signals: Signals;
  /** Rejects, writing nothing, where the lane it is called for was lost to another process. */
  commit(step: Step): Promise<void>;
  /**
   * Adds work unless `refuse` returns a reason, and returns that. `refuse` sees all work beside conversations. It decides in the
   * step that stores the work, so calls of one moment, in any process, see each other's (U10). For a known key nothing is
   * asked and nothing changes.
   */
  addWork(
    work: Work,
    refuse: (beside: readonly ListedItem[]) => string | undefined,
  ): Promise<string | undefined>;
  /** Stops all of it in one transaction (T8). */
  stop(order: StopOrder): Promise<Stopped>;
  /** Plain key and value on the same database: pairings, moved chats, caches. */
  keyed(namespace: string): Keyv;
  /** Sums of a day, or of all days that are kept; of one sender where one is named. */
  usage(of: Readonly<{ day?: string; sender?: string }>): Promise<readonly UsageRow[]>;
  /**
   * Resolves when this process is the only one that does `what` (polling Telegram), with a signal that is aborted when it
   * may no longer be. Where the holder dies another is admitted within 30 s. Rejects with the reason of `until` when that is aborted.
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

/** What a person stops: inbox items by key, and what is asked in conversations (of one requester where one is named). */
export type StopOrder = Readonly<{
  items: readonly string[];
  asks?: readonly Readonly<{ conversation: Conversation; requester?: string }>[];
}>;

/**
 * What stopping did. Items: `dropped` those that nobody had taken (they are done without an answer), `stopping` those that
 * are marked for anyone who works on them or takes them up after a crash; in neither those that waited no more. `cancelled`:
 * ids of asks that were open.
 */
export type Stopped = Readonly<Record<'dropped' | 'stopping' | 'cancelled', readonly string[]>>;

/** How much work there is, in every process's lanes: for the operator's gauges (L4). */
export type Backlog = Readonly<{
  /** Items waiting for an answer or being answered. */
  inboxWaiting: number;
  inboxDead: number;
  /** Outbox rows neither sent nor dead. */
  outboxWaiting: number;
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

/** One use of a model, to be added to the sums. */
export type Use = Omit<UsageRow, 'requests'>;

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
