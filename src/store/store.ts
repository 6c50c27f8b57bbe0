import type Keyv from 'keyv';
import type { Part } from '../core/channel.ts';
import type { Conversation } from '../core/conversation.ts';
import type { Entry } from '../core/entry.ts';
import type { SearchableText } from '../core/memory.ts';
import type { Message } from '../core/message.ts';
import type { Tokens } from '../core/model.ts';
import type { PendingRequests } from './pending-requests.ts';
import type { CapabilityRecords } from './capability-records.ts';
import type { Inbox, ListedItem } from './inbox.ts';
import type { Memories } from './memories.ts';
import type { FeedbackStore } from './feedback.ts';
import type { Outbox } from './outbox.ts';
import type { GroupContext } from './group-context.ts';
import type { Firing, Routines } from './routines.ts';
import type { Signals } from './signals.ts';
import type { StoredFiles } from './stored-files.ts';

export type NewWork = Readonly<{ queue: string; message: Message }>;

/** One step of a turn, committed as one transaction: all of it or nothing (Q8). */
export type Step = Readonly<{
  entries?: readonly Readonly<{ transcript: string; entry: Entry }>[];
  /** Messages to send. Known keys stay as they are. */
  outbox?: readonly Readonly<{ key: string; conversation: Conversation; part: Part }>[];
  /**
   * Work beside the conversation. Its queue is the conversation's key, `~` and a name (U9). Known keys stay as they
   * are.
   */
  work?: readonly NewWork[];
  usage?: readonly Use[];
  runs?: readonly RunRow[];
  /** What was said, kept for later search (K5). */
  searchable?: readonly SearchableText[];
  done?: string;
}>;

export type Forgotten = Readonly<{
  messages: number;
  entries: number;
  outbox: number;
  usage: number;
  asks: number;
  routines: number;
  feedback: number;
  /** Memories of the person, and those that name them. */
  memories: number;
  places: readonly string[];
  files: readonly string[];
}>;

/** Something that is stored of a person. */
export type PersonRecord = Readonly<{
  /** The table that it is in. */
  from: string;
  /** Key of a queue or a conversation, or name of a transcript. */
  place?: string;
  data: unknown;
}>;

export type PersonData = Readonly<{
  records: readonly PersonRecord[];
  places: readonly string[];
  files: readonly string[];
}>;

/** A limit that all processes share: `count` uses at once, then one every `ms` milliseconds. */
export type SharedLimit = Readonly<{ key: string; count: number; ms: number }>;

export type UseLimit = Readonly<{ key: string; most: number; ms: number }>;

/** Everything that outlives the process. There are two implementations and one contract suite. */
export type Store = Readonly<{
  inbox: Inbox;
  outbox: Outbox;
  transcripts: Transcripts;
  groupContext: GroupContext;
  pendingRequests: PendingRequests;
  /** Accounts of people at systems that capabilities stand for. */
  capabilities: CapabilityRecords;
  /** Accounts of people at MCP servers (X8). */
  serverAccounts: CapabilityRecords;
  routines: Routines;
  memories: Memories;
  feedback: FeedbackStore;
  signals: Signals;
  /** Writes a step. If its queue was lost, it rejects and writes nothing. */
  commit(step: Step): Promise<void>;
  /**
   * Adds the work, or returns the reason of `refuse`. That sees all work beside conversations in the same transaction,
   * so calls at the same time see each other (U10). A known key changes nothing.
   */
  addWork(
    work: NewWork,
    refuse: (beside: readonly ListedItem[]) => string | undefined,
  ): Promise<string | undefined>;
  /**
   * Stores the message of a routine and moves its due time in one transaction. If the due time was moved meanwhile, or
   * the routine is gone, it returns false and writes nothing (N1).
   */
  fire(firing: Firing): Promise<boolean>;
  /** Stops items and cancels pending requests in one transaction (T8). */
  stop(order: StopOrder): Promise<Stopped>;
  keyed(namespace: string): Keyv;
  /** Folders and files; undefined if they stay on the disk of the only process (Q14). */
  files(): StoredFiles | undefined;
  /** Tokens used on a day, or on all days that are kept. */
  usage(of: Readonly<{ day?: string; sender?: string }>): Promise<readonly UsageRow[]>;
  /** Tokens used from one day to another, both included, without the days. */
  usedBetween(first: string, last: string): Promise<readonly Omit<UsageRow, 'day'>[]>;
  /** Usage and runs of this day and of those after it. */
  stats(first: string): Promise<readonly StatsRow[]>;
  /**
   * Resolves once only this process may do `what` (polling Telegram). The signal aborts when it may no longer. A dead
   * holder is replaced within 30 s. Rejects with the reason of `until`.
   */
  lead(what: string, until: AbortSignal): Promise<AbortSignal>;
  /**
   * Counts one use in limits that all processes share, and returns how many milliseconds to wait. It is 0 with a single
   * process.
   */
  reserve(limits: readonly SharedLimit[]): Promise<number>;
  /**
   * Counts a use under every key, once for each `id`. If a limit is reached, it counts nothing and returns which one,
   * and when there is room (U10). Counts survive restarts.
   */
  countUse(
    id: string,
    limits: readonly UseLimit[],
  ): Promise<Readonly<{ key: string; freeAt: number }> | undefined>;
  /**
   * Removes everything that is past its time (`bounds`), and conversations, dead items and usage after `retentionMs`
   * milliseconds (Q12).
   */
  prune(now: number, retentionMs: number): Promise<void>;
  /**
   * Removes a person's direct messages, their turns in groups, and quotes of them (Q12). `rooms` are keys of direct
   * messages with them that the store may not know.
   */
  forget(sender: string, rooms?: readonly string[]): Promise<Forgotten>;
  /**
   * Reads what is stored of a person, which is what `forget` would remove, without words of others (L18). `places` are
   * their direct messages, `files` outgoing files.
   */
  person(sender: string, rooms?: readonly string[]): Promise<PersonData>;
  /** Keys of conversations, threads included, in which something was said that names this person. */
  placesNaming(sender: string): Promise<readonly string[]>;
  /**
   * Writes a consistent copy into a new file (0600), all of it or nothing, while the store is in use (Q10). Throws
   * OperatorError if the file exists or can't be written. False if the database has its own tools for backups.
   */
  backup(file: string, onProgress?: (done: number, total: number) => void): Promise<boolean>;
  /** Counts what waits. It reads indexes, so it is cheap enough to be called every few seconds. */
  backlog(): Promise<Backlog>;
  /** Rejects while the database can't be read and written (Q11). */
  check(): Promise<void>;
  close(): Promise<void>;
}>;

/** How to work on queues. Each queue has one worker at a time, in any process (Q9). */
export type WorkerOptions = Readonly<{
  /** Names of channels. `NAME~` are the queues beside that channel's conversations. */
  channels: readonly string[];
  concurrency: number;
  /**
   * Works on the head of a queue once. The oldest queue is first, and it is called again while something is due. After
   * `lost` aborts, writes of the queue are refused. If it rejects, the queue is assigned again after a second.
   */
  run(queue: string, lost: AbortSignal): Promise<void>;
}>;

export type QueueWorker = Readonly<{
  wake(): void;
  /** Resolves once nothing that is served here is due or running. */
  idle(): Promise<void>;
  /** Assigns nothing more, at once. Resolves when everything that was assigned has ended. */
  stop(): Promise<void>;
}>;

export type StopOrder = Readonly<{
  items: readonly string[];
  /** Those of a conversation, of one person only if `requester` is set, and only these if `ids` is. */
  pendingRequests?: readonly Readonly<{
    conversation: Conversation;
    requester?: string;
    ids?: readonly string[];
  }>[];
}>;

/**
 * What a stop did, by key. `dropped` items were not taken yet and are now done without an answer. `stopping` ones are
 * marked for their worker, now or after a crash. `cancelled` are ids of pending requests.
 */
export type Stopped = Readonly<Record<'dropped' | 'stopping' | 'cancelled', readonly string[]>>;

/** What waits in all processes together (L4). */
export type Backlog = Readonly<{
  inboxWaiting: number;
  inboxDead: number;
  outboxWaiting: number;
}>;

export type StoredEntry = Readonly<{ seq: number; entry: Entry }>;

/**
 * Transcripts, to which only `commit` appends. There is one for each conversation and one for each run
 * (`PARENT#run:ID`).
 */
export type Transcripts = Readonly<{
  /** Id of the conversation's transcript: its key, until `/new` archives that. */
  current(conversationKey: string): Promise<string>;
  /**
   * Reads entries from the newest `summary` on, with those that it keeps (M9). Damaged ones are skipped and counted
   * (M7).
   */
  read(id: string): Promise<Readonly<{ entries: readonly StoredEntry[]; damaged: number }>>;
  /** Starts a new, empty transcript for the conversation (M8). */
  archive(conversationKey: string): Promise<void>;
  answered(conversationKey: string): Promise<boolean>;
  /** Messages of people that became a turn, or part of one, at this time or later, without their words (L20). */
  turnsSince(at: number): Promise<readonly TurnOf[]>;
}>;

/** Who wrote where and when. `chatType` is undefined if the entry does not show it. */
export type TurnOf = Readonly<{
  transcript: string;
  item: string;
  sender: string;
  /** Key of the conversation, without the id of an archived transcript. */
  conversation: string;
  at: number;
  chatType: 'private' | 'group' | undefined;
}>;

export type Use = Omit<UsageRow, 'requests'>;

/**
 * Tokens added up. `day` is the date in the operator's zone at that time, as `2026-11-22`. `skill` is empty for the
 * main agent.
 */
export type UsageRow = Readonly<{
  day: string;
  sender: string;
  conversation: string;
  skill: string;
  model: string;
  requests: number;
  tokens: Tokens;
}>;

/**
 * A run as far as it has come. A stored one with the same `id` keeps its day and model. `failed` means that it ended
 * with an error.
 */
export type RunRow = Readonly<
  Pick<UsageRow, 'day' | 'sender' | 'conversation' | 'skill'> & {
    id: string;
    /** Empty if the run failed before it had a model. */
    model: string;
    steps: number;
    failed: boolean;
    at: number;
  }
>;

/** What a model used on a day, with the runs that began on it. */
export type StatsRow = UsageRow &
  Readonly<{ runs: number; steps: number; failures: number; lastRunAt: number | undefined }>;
