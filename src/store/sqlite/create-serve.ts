import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { laneChannel } from '../lane-channel.ts';
import { createScheduler } from '../scheduler.ts';
import type { ServeOptions, Serving } from '../store.ts';

/** Lanes with something due, oldest first, `limit` at most, those beside conversations or the conversations' own; `nextAt` is when the next one becomes due. */
export type Due = (
  now: number,
  limit: number,
  beside: boolean,
) => Readonly<{ lanes: readonly string[]; nextAt?: number }>;

/** Nothing is put off for longer: what is due later was written by a clock that was ahead. */
const longestWaitMs = 3_600_000;
/** From reading the time until what it dates is stored. */
const underWayMs = 1_000;
/** What is refused is given out again after so long. */
const afterFaultMs = 1_000;
const everything = -1;

export type Bell = Readonly<{
  /** Something may have become due, in `lane` alone where one is given. */
  ring(lane?: string): void;
  /** Is told of what to call then; `beside`: for lanes beside conversations, not for those of conversations. */
  onRing(listener: () => void, beside: boolean): void;
}>;

/** Gives out the lanes of one kind of work. This process owns the store, so no lane is ever lost to another. */
export function createServe(options: {
  due: Due;
  /** Makes due at `now` what would become due after `beyond`. */
  bringForward(now: number, beyond: number): void;
  /** `the inbox`, for the log. */
  what: string;
  onWork: Bell['onRing'];
  clock: Clock;
  log: Log;
}): (serve: ServeOptions) => Serving {
  const { due, bringForward, what, onWork, clock, log } = options;

  return ({ channels, concurrency, run }) => {
    const active = new Map<string, Promise<void>>();
    /** The time at the last look, and the latest that the clock ever showed. */
    const seen: { at?: number; latest: number } = { latest: 0 };
    const stopping = new AbortController();
    const never = new AbortController().signal;
    const lookout = createScheduler({ look, what, clock, log });
    const { wake } = lookout;
    const served = new Set(channels.map(encodeURIComponent));
    const beside = channels.every((channel) => channel.endsWith('~'));
    const serves = (lane: string): boolean => served.has(laneChannel(lane));

    async function look(): Promise<number | undefined> {
      mindClock();
      // The next lane that ends looks again.
      if (active.size >= concurrency) return undefined;
      const { lanes, nextAt } = dueHere();
      for (const lane of lanes) {
        if (active.size >= concurrency || stopping.signal.aborted) break;
        if (!active.has(lane)) begin(lane);
      }
      return nextAt;
    }

    /** Where the clock was set back, here or while no process ran, nothing waits for the old time. */
    function mindClock(): void {
      const now = clock.now();
      if (seen.at === undefined) bringForward(now, now + longestWaitMs);
      else if (now < seen.at) bringForward(now, now);
      // What read the old time may be stored only now.
      else if (now < seen.latest) bringForward(now, seen.latest - underWayMs);
      seen.at = now;
      seen.latest = Math.max(seen.latest, now);
    }

    /** All lanes are read only where those of other channels stand in the way. */
    function dueHere(): ReturnType<Due> {
      const first = due(clock.now(), concurrency * 2, beside);
      if (first.lanes.every(serves)) return first;
      return { ...first, lanes: due(clock.now(), everything, beside).lanes.filter(serves) };
    }

    function begin(lane: string): void {
      const ended = work(lane).finally(() => {
        active.delete(lane);
        wake();
      });
      active.set(lane, ended);
    }

    async function work(lane: string): Promise<void> {
      try {
        await run(lane, never);
      } catch (error) {
        log.error({ err: error, lane }, `${what}: a lane could not go on; it is tried again`);
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
          await lookout.looked();
          if (active.size > 0) await Promise.race(active.values());
          else if (dueHere().lanes.length === 0) return;
        }
      },
      async stop() {
        stopping.abort();
        lookout.stop();
        await lookout.looked();
        await Promise.all(active.values());
      },
    };
  };
}
