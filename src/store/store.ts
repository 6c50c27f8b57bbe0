import type Keyv from 'keyv';
import type { Part } from '../core/channel.ts';
import type { Conversation } from '../core/conversation.ts';
import type { Entry } from '../core/entry.ts';
import type { Message } from '../core/message.ts';
import type { Asks } from './asks.ts';
import type { Backlog } from './backlog.ts';
import type { CapabilityRecords } from './capability-records.ts';
import type { Inbox, ListedItem } from './inbox.ts';
import type { Outbox } from './outbox.ts';
import type { Overheard } from './overheard.ts';
import type { Signals } from './signals.ts';
import type { StopOrder, Stopped } from './stop-order.ts';
import type { Transcripts } from './transcripts.ts';
import type { UsageRow, Use } from './usage.ts';

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
  overheard: Overheard;
  asks: Asks;
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
