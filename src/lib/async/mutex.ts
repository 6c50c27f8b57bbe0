import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

const mostKeys = 10_000;

/** Runs what it is given one after another, so that reading, changing and writing a value is one piece. */
export function createMutex(): <Result>(task: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task, task);
    last = result.catch(() => undefined);
    return result;
  };
}

/** A function that makes its value at the first call and gives the same one from then on. */
export function once<T>(make: () => T): () => T {
  let made: Readonly<{ value: T }> | undefined;
  return () => (made ??= { value: make() }).value;
}

/** True at most once in `everyMs` for each key, so that anyone who is refused can't fill the disk. Forgets when the process ends. */
export function createThrottle(everyMs: number, clock: Clock): (key: string) => boolean {
  const seen = new Map<string, number>();
  return (key) => {
    const now = clock.now();
    if (now - (seen.get(key) ?? -Infinity) < everyMs) return false;
    if (seen.size >= mostKeys) seen.clear();
    seen.set(key, now);
    return true;
  };
}

/** Awaited in a long loop: lets other work go first once `sliceMs` have passed, so that reading many files never holds up the bot (B6). */
export function createYieldToEventLoop(sliceMs = 8): () => Promise<void> | undefined {
  let started = performance.now();
  return () => {
    if (performance.now() - started < sliceMs) return undefined;
    return nextTurn().then(() => {
      started = performance.now();
    });
  };
}
