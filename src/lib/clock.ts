import { onAbort } from './async/on-abort.ts';

export type Clock = Readonly<{
  /** The time in milliseconds since 1970. */
  now(): number;
  /** Waits. Rejects with the signal's reason, and does not keep the process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}>;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep,
};

/** Cheaper than `node:timers/promises`, which makes a stack for each abort. */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason as Error);
    const timer = setTimeout(() => {
      stopListening?.();
      resolve();
    }, ms);
    timer.unref();
    const stopListening =
      signal &&
      onAbort(signal, () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      });
  });
}

/** Waits, and resolves early if the signal is aborted. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  await clock.sleep(ms, signal).catch((reason: unknown) => {
    if (!signal.aborted) throw reason;
  });
}
