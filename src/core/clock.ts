import { setTimeout as delay } from 'node:timers/promises';

/** Time, handed in so that tests need not wait for it. */
export type Clock = Readonly<{
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted. Does not keep the process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}>;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal, ref: false }),
};
