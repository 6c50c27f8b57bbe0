import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { shutdownReason } from '../core/shutdown.ts';
import type { Inbox, InboxItem } from '../stores/store.ts';
import { createLookout } from './lookout.ts';

/** What became of an item: answered (its own step has marked it done), or not yet. */
export type Handle = (item: InboxItem, signal: AbortSignal) => Promise<void>;

/** An item that is being answered. */
export type RunningItem = Readonly<{ item: InboxItem; cancel(): void }>;

export type Lanes = Readonly<{
  /** Looks for work now; called after anything was accepted. */
  wake(): void;
  /** The item under way in a lane, and how to cancel it. */
  running(lane: string): RunningItem | undefined;
  /** Everything under way. */
  all(): readonly RunningItem[];
  /** Resolves when no due item waits or runs here. */
  idle(): Promise<void>;
  /** Takes nothing more; resolves when what runs has ended, aborted after `graceMs` (Q7). */
  stop(graceMs: number): Promise<void>;
}>;

/** What is aborted has so long to end. */
const abortedMs = 5_000;
/** Waits before the next try, in milliseconds, by the number of tries that failed. */
const backoffMs: Readonly<Record<number, number>> = { 0: 2_000, 1: 2_000, 2: 15_000 };

/**
 * Runs the inbox: strict order within a lane, lanes side by side up to `concurrency`, a slow or failing lane delays no
 * other (Q3). `handle` must be callable again for the same item (Q5).
 */
export function createLanes(options: {
  inbox: Inbox;
  handle: Handle;
  /** Whether anything was journalled for an item since `at`: a try that got further is not counted (Q3). */
  progressed(item: InboxItem, at: number): Promise<boolean>;
  /** Told after an item was set aside, so that the person hears of it. */
  onDead(item: InboxItem, error: unknown): Promise<void>;
  /** Whether this process can answer there: its channel is open. */
  serves(lane: string): boolean;
  concurrency: number;
  /** Failed tries after which an item is set aside. */
  mostTries?: number;
  clock: Clock;
  log: Log;
}): Lanes {
  const { inbox, handle, progressed, onDead, serves, concurrency, mostTries = 3, clock, log } = options;
  const active = new Map<string, { item?: InboxItem; abort: AbortController; ended: Promise<void> }>();
  const stopping = new AbortController();
  const lookout = createLookout({ look, what: 'the inbox', clock, log });
  const { wake } = lookout;

  async function look(): Promise<number | undefined> {
    const { lanes, nextAt } = await dueHere();
    for (const lane of lanes) {
      if (active.size >= concurrency || stopping.signal.aborted) break;
      if (!active.has(lane)) begin(lane);
    }
    return nextAt;
  }

  /** Due lanes of channels that are open here; all of them are read only where those of others stand in the way. */
  async function dueHere(): Promise<Readonly<{ lanes: readonly string[]; nextAt?: number }>> {
    const first = await inbox.due(clock.now(), concurrency * 2);
    if (first.lanes.every(serves)) return first;
    const { lanes } = await inbox.due(clock.now());
    return { ...first, lanes: lanes.filter(serves) };
  }

  function begin(lane: string): void {
    const abort = new AbortController();
    const entry = { abort, ended: Promise.resolve() };
    active.set(lane, entry);
    entry.ended = runLane(lane, abort.signal).finally(() => {
      active.delete(lane);
      wake();
    });
  }

  async function runLane(lane: string, signal: AbortSignal): Promise<void> {
    try {
      const item = await inbox.take(lane, clock.now());
      if (item === undefined) return;
      const entry = active.get(lane);
      if (entry !== undefined) entry.item = item;
      if (await diedBefore(item)) return;
      const began = clock.now();
      await handle(item, signal).catch((error: unknown) => failed(item, error, began));
    } catch (error) {
      log.error({ err: error, lane }, 'a lane could not go on; it is tried again');
      await clock.sleep(1_000, stopping.signal).catch(() => undefined);
    }
  }

  /** The process ended under this item without getting anywhere: a failed try. True when that was seen to; the item is taken anew then. */
  async function diedBefore(item: InboxItem): Promise<boolean> {
    if (item.interruptedAt === undefined || (await progressed(item, item.interruptedAt))) return false;
    const error = new Error('the process ended while the message was answered');
    if (item.tries + 1 >= mostTries) await setAside(item, error);
    else await inbox.fail(item.key, error.message, clock.now());
    return true;
  }

  async function failed(item: InboxItem, error: unknown, began: number): Promise<void> {
    // Cut off by the shutdown: no try at all, it goes on at the next start (Q7).
    if (stopping.signal.aborted) return inbox.postpone(item.key, 'cut off by a shutdown', clock.now());
    const reason = error instanceof Error ? error.message : String(error);
    const further = await progressed(item, began);
    const tries = item.tries + (further && mostTries > 1 ? 0 : 1);
    log.error({ err: error, message: item.key, tries }, 'a message could not be answered');
    if (tries >= mostTries) return setAside(item, error);
    const retryAt = clock.now() + (backoffMs[tries] ?? 0);
    await (further ? inbox.postpone(item.key, reason, retryAt) : inbox.fail(item.key, reason, retryAt));
  }

  async function setAside(item: InboxItem, error: unknown): Promise<void> {
    await inbox.fail(item.key, error instanceof Error ? error.message : String(error), undefined);
    await onDead(item, error);
  }

  function runningIn(lane: string): RunningItem | undefined {
    const entry = active.get(lane);
    if (entry?.item === undefined) return undefined;
    const stop = new DOMException('stopped by a person', 'AbortError');
    return { item: entry.item, cancel: () => entry.abort.abort(stop) };
  }

  return {
    wake,
    running: runningIn,
    all: () => [...active.keys()].flatMap((lane) => runningIn(lane) ?? []),
    async idle() {
      for (;;) {
        wake();
        await lookout.looked();
        if (active.size > 0) await Promise.race([...active.values()].map(({ ended }) => ended));
        else if ((await dueHere()).lanes.length === 0) return;
      }
    },
    async stop(graceMs) {
      stopping.abort();
      lookout.stop();
      const ended = Promise.allSettled([...active.values()].map((entry) => entry.ended));
      const late = new AbortController();
      const grace = clock.sleep(graceMs, late.signal).then(
        () => {
          for (const { abort } of active.values()) abort.abort(shutdownReason());
        },
        () => undefined,
      );
      await Promise.race([ended, grace]);
      late.abort();
      // What does not end when it is told to is left to the journal.
      await Promise.race([ended, clock.sleep(abortedMs)]);
    },
  };
}
