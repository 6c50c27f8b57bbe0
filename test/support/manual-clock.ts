import type { Clock } from '../../src/lib/clock.ts';

/** A clock that stands still until it is told to go on. */
export type ManualClock = Clock &
  Readonly<{
    /** Lets `ms` pass, waking sleepers in order and letting what they start settle before the next. */
    advance(ms: number): Promise<void>;
    /** Lets time pass from sleeper to sleeper until the promise settles; fails if nothing sleeps and nothing else happens. */
    runUntil<T>(promise: Promise<T>): Promise<T>;
  }>;

type Sleeper = { at: number; wake: () => void };

/** Starts at `start` (milliseconds since 1970). */
export function createManualClock(start = Date.UTC(2026, 0, 1)): ManualClock {
  const state = { now: start };
  const sleepers = new Set<Sleeper>();
  const next = (): Sleeper | undefined => [...sleepers].sort((a, b) => a.at - b.at)[0];
  const wake = async (sleeper: Sleeper): Promise<void> => {
    state.now = Math.max(state.now, sleeper.at);
    sleeper.wake();
    await settle();
  };
  return {
    now: () => state.now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const sleeper: Sleeper = { at: state.now + ms, wake: () => end(resolve) };
        const end = (settleSleep: () => void): void => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', abort);
          settleSleep();
        };
        const abort = (): void => end(() => reject(signal?.reason as Error));
        signal?.addEventListener('abort', abort, { once: true });
        sleepers.add(sleeper);
      }),
    async advance(ms) {
      const until = state.now + ms;
      await settle();
      for (let sleeper = next(); sleeper !== undefined && sleeper.at <= until; sleeper = next()) {
        await wake(sleeper);
      }
      state.now = until;
      await settle();
    },
    async runUntil(promise) {
      const done = { yet: false };
      const mark = (): void => {
        done.yet = true;
      };
      promise.then(mark, mark);
      await settle();
      for (let sleeper = next(); !done.yet && sleeper !== undefined; sleeper = next()) await wake(sleeper);
      return promise;
    },
  };
}

/** Lets everything that is ready run, input and output that has arrived included: each write of a store takes the event loop one turn. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
}
