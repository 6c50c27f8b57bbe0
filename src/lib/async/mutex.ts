import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

const mostKeys = 10_000;

export function createMutex(): <Result>(task: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task, task);
    last = result.catch(() => undefined);
    return result;
  };
}

export function once<T>(make: () => T): () => T {
  let made: Readonly<{ value: T }> | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Returns a check that is true at most once in `everyMs` milliseconds for each key, in this process. */
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

/** Returns a function that long loops call, and that lets other work run after each `sliceMs` milliseconds (B6). */
export function createYieldToEventLoop(sliceMs = 8): () => Promise<void> | undefined {
  let started = performance.now();
  return () => {
    if (performance.now() - started < sliceMs) return undefined;
    return nextTurn().then(() => {
      started = performance.now();
    });
  };
}
