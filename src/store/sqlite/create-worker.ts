import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { queueChannel } from '../queue-channel.ts';
import { createScheduler } from '../scheduler.ts';
import type { WorkerOptions, QueueWorker } from '../store.ts';

/**
 * At most `limit` queues in which something is due, oldest first: those beside conversations or the others. `nextAt` is
 * when the next one becomes due.
 */
type Due = (
  now: number,
  limit: number,
  beside: boolean,
) => Readonly<{ queues: readonly string[]; nextAt?: number }>;

/** Anything that is due later than this was written by a clock that was ahead. */
const longestWaitMs = 3_600_000;
/** Milliseconds that pass at most between reading the time and storing it. */
const underWayMs = 1_000;
const afterFaultMs = 1_000;
const everything = -1;

export type Bell = Readonly<{
  /** Tells that something may be due, with `queue` only in that queue. */
  ring(queue?: string): void;
  onRing(listener: () => void, beside: boolean): void;
}>;

export type DueTimes = Readonly<{
  due: Due;
  /** Makes due at `now` what is due after `beyond`. */
  makeDueNow(now: number, beyond: number): void;
}>;

type WorkerDeps = DueTimes & Readonly<{ what: string; onWork: Bell['onRing']; clock: Clock; log: Log }>;

/** Assigns queues to workers. This process owns the store, so no queue is ever lost. */
export function createSqliteWorker(deps: WorkerDeps): (options: WorkerOptions) => QueueWorker {
  return (options) => startWorker(options, deps);
}

function startWorker(
  { channels, concurrency, run }: WorkerOptions,
  { due, makeDueNow, what, onWork, clock, log }: WorkerDeps,
): QueueWorker {
  const active = new Map<string, Promise<void>>();
  const mindClock = createMindClock(clock, makeDueNow);
  const stopping = new AbortController();
  const never = new AbortController().signal;
  const scheduler = createScheduler({ look, what, clock, log });
  const { wake } = scheduler;
  const beside = channels.every((channel) => channel.endsWith('~'));
  const served = new Set(channels.map(encodeURIComponent));
  const serves = (queue: string): boolean => served.has(queueChannel(queue));
  const dueHere = () => dueFor(serves, { due, now: clock.now(), most: concurrency * 2, beside });

  async function look(): Promise<number | undefined> {
    mindClock();
    // The next queue that gets free looks again.
    if (active.size >= concurrency) return undefined;
    const { queues, nextAt } = dueHere();
    for (const queue of queues) {
      if (active.size >= concurrency || stopping.signal.aborted) break;
      if (!active.has(queue)) begin(queue);
    }
    return nextAt;
  }

  function begin(queue: string): void {
    const ended = work(queue).finally(() => {
      active.delete(queue);
      wake();
    });
    active.set(queue, ended);
  }

  async function work(queue: string): Promise<void> {
    try {
      await run(queue, never);
    } catch (error) {
      log.error({ err: error, queue }, `${what}: a queue could not go on; it is tried again`);
      await clock.sleep(afterFaultMs, stopping.signal).catch(() => undefined);
    }
  }

  onWork(wake, beside);
  wake();
  return {
    wake,
    async idle() {
      for (;;) {
        wake();
        await scheduler.looked();
        if (active.size > 0) await Promise.race(active.values());
        else if (dueHere().queues.length === 0) return;
      }
    },
    async stop() {
      stopping.abort();
      scheduler.stop();
      await scheduler.looked();
      await Promise.all(active.values());
    },
  };
}

/** Reads all queues only if those of other channels fill the first page. */
function dueFor(
  serves: (queue: string) => boolean,
  { due, now, most, beside }: Readonly<{ due: Due; now: number; most: number; beside: boolean }>,
): ReturnType<Due> {
  const first = due(now, most, beside);
  if (first.queues.every(serves)) return first;
  return { ...first, queues: due(now, everything, beside).queues.filter(serves) };
}

/** Returns a function that, if the clock was set back, makes due what waits for the old time. */
function createMindClock(clock: Clock, makeDueNow: (now: number, beyond: number) => void): () => void {
  /** `latest` is the latest time that the clock ever had. */
  const seen: { at?: number; latest: number } = { latest: 0 };
  return () => {
    const now = clock.now();
    if (seen.at === undefined) makeDueNow(now, now + longestWaitMs);
    else if (now < seen.at) makeDueNow(now, now);
    // Something with the old time may have been stored only now.
    else if (now < seen.latest) makeDueNow(now, seen.latest - underWayMs);
    seen.at = now;
    seen.latest = Math.max(seen.latest, now);
  };
}
