import { shutdownReason } from '../lib/async/shutdown.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Inbox, InboxItem } from '../store/inbox.ts';
import type { Serving } from '../store/store.ts';
import type { Signals } from '../store/signals.ts';

/** What became of an item: answered (its own step has marked it done), or not yet. */
export type Handle = (item: InboxItem, signal: AbortSignal) => Promise<void>;

export type InboxWorker = Readonly<{
  /** Begins to answer. */
  start(): void;
  /** Resolves when no due item waits or runs here. */
  idle(): Promise<void>;
  /** Takes nothing more; resolves when what runs has ended, aborted after `graceMs` (Q7). */
  stop(graceMs: number): Promise<void>;
}>;

/** What is aborted has so long to end. */
const abortedMs = 5_000;
/** Words of stopping that are remembered for items that are not answered here (yet). */
const mostEarly = 1_000;
/** Runs side by side for each turn that may be: most of them wait for a model. */
const runsPerTurn = 4;
/** What is stored of an item whose process ended under it: with others beside it, or when it was answered alone. */
const died = 'the process ended while this was answered';
const diedAlone = 'the process ended under this again and again: it is answered alone';
/** While another one is answered alone, an item waits so long. */
const aloneWaitMs = 1_000;
/** Waits before the next try, in milliseconds, by the number of tries that failed. */
const backoffMs: Readonly<Record<number, number>> = { 0: 2_000, 1: 2_000, 2: 15_000 };

/**
 * Runs the inbox: strict order within a lane, lanes side by side up to `concurrency`, a slow or failing lane delays no
 * other (Q3). `handle` must be callable again for the same item (Q5).
 */
export function createInboxWorker(options: {
  inbox: Inbox;
  signals: Signals;
  handle: Handle;
  /** Whether anything was journalled for an item since `at`: a try that got further is not counted (Q3). */
  progressed(item: InboxItem, at: number): Promise<boolean>;
  /** Told when an item is to be set aside, so that the person hears of it; again after a crash. */
  onDead(item: InboxItem, error: unknown): Promise<void>;
  /** Channels that are open here. */
  channels: readonly string[];
  concurrency: number;
  /** Failed tries after which an item is set aside. */
  mostTries?: (key: string) => number;
  clock: Clock;
  log: Log;
}): InboxWorker {
  const {
    inbox,
    signals,
    handle,
    progressed,
    onDead,
    channels,
    concurrency,
    mostTries = () => 3,
    clock,
    log,
  } = options;
  const running = new Map<string, AbortController>();
  const early = new Set<string>();
  const alone = new Set<'run' | 'message'>();
  const stopping = new AbortController();
  let servings: readonly Serving[] = [];
  // Wherever `/stop` was said, the process that answers the message hears it (Q9).
  const silence = signals.on('stop', (key) => {
    const abort = running.get(key);
    if (abort !== undefined) return abort.abort(stoppedByPerson());
    // Taken a moment ago, perhaps, or another process has it.
    early.add(key);
    for (const oldest of early) if (early.size > mostEarly) early.delete(oldest);
  });

  async function runLane(lane: string, lost: AbortSignal): Promise<void> {
    const item = await inbox.take(lane, clock.now());
    if (item === undefined || (await diedBefore(item))) return;
    await (mayKill(item) ? runAlone(item, lost) : run(item, lost));
  }

  /** Of the items that may have ended the process one is answered at a time: only the one that does it again is set aside. */
  async function runAlone(item: InboxItem, lost: AbortSignal): Promise<void> {
    // A message may wait for its run.
    const kind = item.message.task?.kind === 'run' ? 'run' : 'message';
    if (alone.has(kind)) return inbox.postpone(item.key, died, clock.now() + aloneWaitMs);
    alone.add(kind);
    try {
      await inbox.postpone(item.key, diedAlone, clock.now());
      const again = await inbox.take(item.lane, clock.now());
      if (again !== undefined) await run(again, lost);
    } finally {
      alone.delete(kind);
    }
  }

  async function run(item: InboxItem, lost: AbortSignal): Promise<void> {
    const abort = new AbortController();
    // Another process continues with it from the journal.
    const onLost = (): void => abort.abort(shutdownReason());
    lost.addEventListener('abort', onLost);
    running.set(item.key, abort);
    if (early.delete(item.key) || item.stopped === true) abort.abort(stoppedByPerson());
    if (lost.aborted) onLost();
    const began = clock.now();
    try {
      await handle(item, abort.signal);
    } catch (error) {
      if (lost.aborted)
        log.warn(
          { err: error, message: item.key },
          'a lane was lost: its next holder continues with its message',
        );
      else await failed(item, error, began);
    } finally {
      running.delete(item.key);
      lost.removeEventListener('abort', onLost);
    }
  }

  /**
   * The process ended under this item without getting anywhere: a failed try. The last one counts only if the item was
   * answered alone. True when that was seen to; the item is taken again then.
   */
  async function diedBefore(item: InboxItem): Promise<boolean> {
    if (item.interruptedAt === undefined || (await progressed(item, item.interruptedAt))) return false;
    const most = mostTries(item.key);
    if (item.tries + 1 < most) await inbox.fail(item.key, died, clock.now());
    else if (most > 1 && item.error !== diedAlone) await inbox.postpone(item.key, died, clock.now());
    else await setAside(item, new Error(died));
    return true;
  }

  function mayKill({ key, tries, error }: InboxItem): boolean {
    return tries + 1 >= mostTries(key) && (error === died || error === diedAlone);
  }

  async function failed(item: InboxItem, error: unknown, began: number): Promise<void> {
    // Cut off by the shutdown: no try at all, it continues at the next start (Q7).
    if (stopping.signal.aborted) return inbox.postpone(item.key, 'cut off by a shutdown', clock.now());
    const reason = error instanceof Error ? error.message : String(error);
    const further = await progressed(item, began);
    const most = mostTries(item.key);
    const tries = item.tries + (further && most > 1 ? 0 : 1);
    log.error({ err: error, message: item.key, tries }, 'a message could not be answered');
    if (tries >= most) return setAside(item, error);
    const retryAt = clock.now() + (backoffMs[tries] ?? 0);
    await (further ? inbox.postpone(item.key, reason, retryAt) : inbox.fail(item.key, reason, retryAt));
  }

  async function setAside(item: InboxItem, error: unknown): Promise<void> {
    // Told first: nobody looks again at what was set aside. Told twice it is told once (its outbox key).
    await onDead(item, error);
    await inbox.fail(item.key, error instanceof Error ? error.message : String(error), undefined);
  }

  return {
    start() {
      const beside = channels.map((channel) => `${channel}~`);
      // Runs have room of their own: however long they take in the background, people are answered (U9).
      servings = [
        inbox.serve({ channels, concurrency, run: runLane }),
        inbox.serve({ channels: beside, concurrency: runsPerTurn * concurrency, run: runLane }),
      ];
    },
    async idle() {
      // What one of them does may have made work for the other.
      for (const serving of [...servings, ...servings]) await serving.idle();
    },
    async stop(graceMs) {
      stopping.abort();
      const ended = Promise.all(servings.map((serving) => serving.stop()));
      const late = new AbortController();
      const grace = clock.sleep(graceMs, late.signal).then(
        () => {
          for (const abort of running.values()) abort.abort(shutdownReason());
        },
        () => undefined,
      );
      await Promise.race([ended, grace]);
      late.abort();
      // What does not end when it is told to is left to the journal.
      await Promise.race([ended, clock.sleep(abortedMs)]);
      silence();
    },
  };
}

function stoppedByPerson(): DOMException {
  return new DOMException('stopped by a person', 'AbortError');
}

/** Whether an item was worked on before: its process ended under it, a shutdown cut it off, or a try failed. */
export function wasStarted({ interruptedAt, error }: InboxItem): boolean {
  return interruptedAt !== undefined || error !== undefined;
}
