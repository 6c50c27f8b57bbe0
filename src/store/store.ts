import type Keyv from 'keyv';
import type { Part } from '../core/channel.ts';
import type { Conversation } from '../core/conversation.ts';
import type { Entry } from '../core/entry.ts';
import type { Said } from '../core/memory.ts';
import type { Message } from '../core/message.ts';
import type { Tokens } from '../core/model.ts';
import type { PendingRequests } from './pending-requests.ts';
import type { CapabilityRecords } from './capability-records.ts';
import type { Inbox, ListedItem } from './inbox.ts';
import type { Memories } from './memories.ts';
import type { Outbox } from './outbox.ts';
import type { GroupContext } from './group-context.ts';
import type { Firing, Routines } from './routines.ts';
import type { Signals } from './signals.ts';
import type { StoredFiles } from './stored-files.ts';

export type Work = Readonly<{ lane: string; message: Message }>;

/** One step of a turn, committed as one transaction: all of it or nothing (Q8). */
export type Step = Readonly<{
  entries?: readonly Readonly<{ transcript: string; entry: Entry }>[];
  /** Known keys stay as they are. */
  outbox?: readonly Readonly<{ key: string; conversation: Conversation; part: Part }>[];
  /** `lane`: the conversation's key, `~` and a name (U9). Known keys stay. */
  work?: readonly Work[];
  usage?: readonly Use[];
  runs?: readonly RunRow[];
  /** For later search (K5). */
  said?: readonly Said[];
  done?: string;
}>;

export type Forgotten = Readonly<{
  messages: number;
  entries: number;
  outbox: number;
  usage: number;
  asks: number;
  routines: number;
  /** Theirs, and those that name them. */
  memories: number;
  places: readonly string[];
  files: readonly string[];
}>;

/** `count` uses at once, then one every `ms`. */
export type SharedLimit = Readonly<{ key: string; count: number; ms: number }>;

export type UseLimit = Readonly<{ key: string; most: number; ms: number }>;

/** Everything that outlives the process. Two implementations, one contract suite. */
export type Store = Readonly<{
  inbox: Inbox;
  outbox: Outbox;
  transcripts: Transcripts;
  overheard: GroupContext;
  asks: PendingRequests;
  capabilities: CapabilityRecords;
  routines: Routines;
  memories: Memories;
  signals: Signals;
  /** Rejects, writing nothing, if its lane was lost. */
  commit(step: Step): Promise<void>;
  /**
   * Returns the reason of `refuse`, or adds the work. `refuse` sees all work beside conversations, in the same
   * transaction, so calls at the same time see each other (U10). A known key changes nothing.
   */
  addWork(
    work: Work,
    refuse: (beside: readonly ListedItem[]) => string | undefined,
  ): Promise<string | undefined>;
  /**
   * Stores the message of a routine and moves its due time in one transaction. False, writing nothing, if the due time
   * was moved meanwhile, or the routine is gone (N1).
   */
  fire(firing: Firing): Promise<boolean>;
  /** In one transaction (T8). */
  stop(order: StopOrder): Promise<Stopped>;
  keyed(namespace: string): Keyv;
  /** Undefined where files stay on the disk of the only process (Q14). */
  files(): StoredFiles | undefined;
  /** Of a day, or of all days kept. */
  usage(of: Readonly<{ day?: string; sender?: string }>): Promise<readonly UsageRow[]>;
  /** Of this day and of those after it. */
  stats(first: string): Promise<readonly StatsRow[]>;
  /**
   * Resolves when only this process may do `what` (polling Telegram); the signal aborts when it may no longer. A dead
   * holder is replaced within 30 s. Rejects with the reason of `until`.
   */
  lead(what: string, until: AbortSignal): Promise<AbortSignal>;
  /** Counts one use in limits shared by all processes; returns the milliseconds to wait. With one process: 0. */
  reserve(limits: readonly SharedLimit[]): Promise<number>;
  /**
   * Counts a use under every key, once an `id`. If a limit is reached, counts nothing and returns which, and when
   * there is room (U10). Survives restarts.
   */
  countUse(
    id: string,
    limits: readonly UseLimit[],
  ): Promise<Readonly<{ key: string; freeAt: number }> | undefined>;
  /** Removes everything past its time (`bounds`), and conversations, dead items and usage after `retentionMs` (Q12). */
  prune(now: number, retentionMs: number): Promise<void>;
  /**
   * Removes a person's direct messages, their turns in groups, and quotes of them (Q12). `rooms`: keys of direct
   * messages with them that the store may not know by itself.
   */
  forget(sender: string, rooms?: readonly string[]): Promise<Forgotten>;
  /**
   * A consistent copy in a new file (0600), whole or not at all, while the store is in use (Q10). Throws
   * OperatorError if the file exists or can't be written. False: the database has tools of its own for that.
   */
  backup(file: string, onProgress?: (done: number, total: number) => void): Promise<boolean>;
  /** Counted from indexes: cheap enough to be asked every few seconds. */
  backlog(): Promise<Backlog>;
  /** Rejects while the database can't be read and written (Q11). */
  check(): Promise<void>;
  close(): Promise<void>;
}>;

/** Each lane has one taker at a time, in any process (Q9). */
export type ServeOptions = Readonly<{
  /** `NAME~`: lanes beside that channel's conversations. */
  channels: readonly string[];
  concurrency: number;
  /**
   * Works on the head of a lane once, oldest lane first, again while something is due. After `lost` aborts, its
   * writes are refused. If it rejects, the lane is given out again after a second.
   */
  run(lane: string, lost: AbortSignal): Promise<void>;
}>;

export type Serving = Readonly<{
  wake(): void;
  /** Nothing served here is due or running. */
  idle(): Promise<void>;
  /** Gives out nothing more, at once; resolves when what was given out has ended. */
  stop(): Promise<void>;
}>;

export type StopOrder = Readonly<{
  items: readonly string[];
  asks?: readonly Readonly<{ conversation: Conversation; requester?: string }>[];
}>;

/**
 * `dropped`: not taken yet, now done without an answer. `stopping`: marked for their worker, now or after a crash.
 * `cancelled`: ids of open requests.
 */
export type Stopped = Readonly<Record<'dropped' | 'stopping' | 'cancelled', readonly string[]>>;

/** Of all processes (L4). */
export type Backlog = Readonly<{
  inboxWaiting: number;
  inboxDead: number;
  outboxWaiting: number;
}>;

export type StoredEntry = Readonly<{ seq: number; entry: Entry }>;

/** Append-only, by `commit`. One for each conversation, one for each run (`PARENT#run:ID`). */
export type Transcripts = Readonly<{
  /** The conversation's key, until `/new` archives it. */
  current(conversationKey: string): Promise<string>;
  /** From the newest `summary` on, with the entries it keeps (M9). Damaged entries are skipped and counted (M7). */
  read(id: string): Promise<Readonly<{ entries: readonly StoredEntry[]; damaged: number }>>;
  /** Starts a new, empty transcript (M8). */
  archive(conversationKey: string): Promise<void>;
  answered(conversationKey: string): Promise<boolean>;
}>;

export type Use = Omit<UsageRow, 'requests'>;

/** Sums of tokens. `day`: in the operator’s zone then, `2026-11-22`. `skill`: empty for the main agent. */
export type UsageRow = Readonly<{
  day: string;
  sender: string;
  conversation: string;
  skill: string;
  model: string;
  requests: number;
  tokens: Tokens;
}>;

/** A run as far as it came. What is stored of the same `id` keeps its day and model. `failed`: it ended with an error. */
export type RunRow = Readonly<
  Pick<UsageRow, 'day' | 'sender' | 'conversation' | 'skill'> & {
    id: string;
    /** Empty if it failed before it had one. */
    model: string;
    steps: number;
    failed: boolean;
    at: number;
  }
>;

/** What a model used, with the runs that began on that day. */
export type StatsRow = UsageRow &
  Readonly<{ runs: number; steps: number; failures: number; lastRunAt: number | undefined }>;
