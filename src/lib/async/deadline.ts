import type { Clock } from '../clock.ts';

export type Deadline = Readonly<{
  /** Aborted with a `TimeoutError` when the time is up. */
  signal: AbortSignal;
  start(ms: number): void;
  pause<Result>(work: () => Promise<Result>): Promise<Result>;
  end(): void;
}>;

/** Makes a time limit that can be paused. It does not keep the process alive. */
export function createDeadline(clock: Clock): Deadline {
  const over = new AbortController();
  const now = monotonicClock(clock);
  let left: number | undefined;
  let since = 0;
  let pauses = 0;
  let timer: AbortController | undefined;

  function count(): void {
    if (left === undefined || pauses > 0) return;
    since = now();
    timer = new AbortController();
    clock.sleep(Math.max(0, left), timer.signal).then(
      () => over.abort(new DOMException('the time is up', 'TimeoutError')),
      () => undefined,
    );
  }

  function hold(): void {
    if (timer === undefined) return;
    timer.abort();
    timer = undefined;
    left = (left ?? 0) - (now() - since);
  }

  return {
    signal: over.signal,
    start(ms) {
      left = ms;
      count();
    },
    async pause(work) {
      pauses += 1;
      if (pauses === 1) hold();
      try {
        return await work();
      } finally {
        pauses -= 1;
        count();
      }
    },
    end() {
      hold();
      left = undefined;
    },
  };
}

export async function raceTimeout(clock: Clock, work: Promise<void>, ms: number): Promise<void> {
  const over = new AbortController();
  const time = clock.sleep(ms, over.signal).catch(() => undefined);
  try {
    await Promise.race([work, time]);
  } finally {
    over.abort();
  }
}

/** Returns milliseconds that never go back, even if the clock does. */
export function monotonicClock(clock: Clock): () => number {
  let ahead = 0;
  let seen = clock.now();
  return () => {
    const now = clock.now();
    if (now < seen) ahead += seen - now;
    seen = now;
    return now + ahead;
  };
}
