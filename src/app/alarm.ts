import type { Clock } from '../core/clock.ts';

/** Rings once at a time to come; setting it anew replaces what was set. */
export type Alarm = Readonly<{
  /** `at` in milliseconds since 1970; what has passed rings at once. */
  set(at: number): void;
  stop(): void;
}>;

export function createAlarm(clock: Clock, ring: () => void): Alarm {
  let waiting = new AbortController();
  return {
    set(at) {
      waiting.abort();
      waiting = new AbortController();
      clock.sleep(Math.max(0, at - clock.now()), waiting.signal).then(ring, () => undefined);
    },
    stop: () => waiting.abort(),
  };
}
