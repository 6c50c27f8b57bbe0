import type { Clock } from '../lib/clock.ts';
import { monotonicClock } from '../lib/async/deadline.ts';

/** `of`: undefined is no limit. `window`: `count` in any `ms`. `bucket`: `count` at once, then one every `ms`. */
export type RateLimitRule = Readonly<{
  kind: 'window' | 'bucket';
  count: number;
  ms: number;
  of: (key: string) => string | undefined;
}>;

/** (H8) Keys are chats. */
export type RateLimiter = Readonly<{
  /** For answers. */
  wait(key: string): Promise<void>;
  /** For status and previews: counted if it may go at once. A quarter of each limit is left to answers. */
  take(key: string): boolean;
  /** After a 429. */
  pause(key: string, ms: number): void;
}>;

/** `count` at once, then one every `ms`. */
export type SharedLimit = Readonly<{ key: string; count: number; ms: number }>;

/** (H8, Q9) */
export type SharedRateLimiter = Readonly<{ name: string; reserve: Reserve }>;

/** Returns the wait in ms. Never rejects. */
export type Reserve = (limits: readonly SharedLimit[]) => Promise<number>;

/** A wait does not keep the process alive. */
export function createRateLimiter(
  rules: readonly RateLimitRule[],
  clock: Clock,
  shared?: SharedRateLimiter,
): RateLimiter {
  const time = monotonicClock(clock);
  const counters = new Map<string, Counter>();
  const pausedUntil = new Map<string, number>();
  const waiting = new Map<string, (() => void)[]>();
  /** Other processes leave no room until then. */
  const takenUntil = new Map<string, number>();
  const timer: { due: number; abort: AbortController | undefined } = { due: Infinity, abort: undefined };

  const countersOf = (key: string): readonly Counter[] =>
    rules.flatMap((rule, index) => {
      const bucket = rule.of(key);
      if (bucket === undefined) return [];
      const name = `${index} ${bucket}`;
      const counter = counters.get(name) ?? createCounter(rule);
      counters.set(name, counter);
      return [counter];
    });

  const readyAt = (key: string, now: number, spare: (counter: Counter) => number): number => {
    const allowed = countersOf(key).map((counter) => counter.readyAt(now, spare(counter)));
    return Math.max(now, pausedUntil.get(key) ?? 0, ...allowed);
  };

  const count = (key: string, now: number): void => {
    for (const counter of countersOf(key)) counter.add(now);
    if (counters.size > 1000) forgetIdle(counters, now);
  };

  const release = (): void => {
    const now = time();
    let next = Infinity;
    for (const [key, queue] of [...waiting]) {
      let at = readyAt(key, now, noSpare);
      while (at <= now && queue.length > 0) {
        count(key, now);
        queue.shift()?.();
        at = readyAt(key, now, noSpare);
      }
      if (queue.length === 0) waiting.delete(key);
      else next = Math.min(next, at);
      // To the back: keys share the overall limit.
      if (queue.length > 0 && waiting.delete(key)) waiting.set(key, queue);
    }
    wakeAt(next, now);
  };

  const wakeAt = (due: number, now: number): void => {
    timer.abort?.abort();
    timer.abort = due === Infinity ? undefined : new AbortController();
    timer.due = due;
    if (timer.abort === undefined) return;
    const { signal } = timer.abort;
    clock.sleep(due - now, signal).then(
      () => {
        timer.due = Infinity;
        release();
      },
      (reason: unknown) => {
        if (!signal.aborted) throw reason;
      },
    );
  };

  const waitHere = (key: string): Promise<void> =>
    new Promise((resolve) => {
      const now = time();
      const queue = waiting.get(key);
      const at = readyAt(key, now, noSpare);
      if (queue !== undefined) queue.push(resolve);
      else if (at > now) {
        waiting.set(key, [resolve]);
        if (at < timer.due) wakeAt(at, now);
      } else {
        count(key, now);
        resolve();
      }
    });

  const reserve = async (key: string, { name, reserve: ask }: SharedRateLimiter): Promise<number> => {
    const limits = rules.flatMap((rule, index) => {
      const bucket = rule.of(key);
      return bucket === undefined ? [] : [{ key: `${name} ${index} ${bucket}`, ...asShared(rule) }];
    });
    const ms = limits.length === 0 ? 0 : await ask(limits);
    const now = time();
    for (const [old, until] of takenUntil) if (until <= now) takenUntil.delete(old);
    if (ms > 0) takenUntil.set(key, Math.max(takenUntil.get(key) ?? 0, now + ms));
    return ms;
  };

  return {
    async wait(key) {
      await waitHere(key);
      const ms = shared === undefined ? 0 : await reserve(key, shared);
      if (ms > 0) await clock.sleep(ms);
    },
    take(key) {
      const now = time();
      if (waiting.has(key) || (takenUntil.get(key) ?? 0) > now || readyAt(key, now, quarter) > now)
        return false;
      count(key, now);
      if (shared !== undefined) void reserve(key, shared);
      return true;
    },
    pause(key, ms) {
      const now = time();
      for (const [old, until] of pausedUntil) if (until <= now) pausedUntil.delete(old);
      pausedUntil.set(key, Math.max(pausedUntil.get(key) ?? 0, now + ms));
    },
  };
}

type Counter = Readonly<{
  limit: number;
  readyAt(now: number, spare: number): number;
  add(now: number): void;
  idle(now: number): boolean;
}>;

function createCounter({ kind, count, ms }: RateLimitRule): Counter {
  // Of each place.
  const freeAt: number[] = [];
  const drop = (now: number): void => {
    while ((freeAt[0] ?? Infinity) <= now) freeAt.shift();
  };
  return {
    limit: count,
    readyAt(now, spare) {
      drop(now);
      const over = freeAt.length - (count - spare);
      return over < 0 ? now : (freeAt[over] ?? now);
    },
    add(now) {
      drop(now);
      freeAt.push(kind === 'window' ? now + ms : Math.max(now, freeAt.at(-1) ?? 0) + ms);
    },
    idle(now) {
      drop(now);
      return freeAt.length === 0;
    },
  };
}

function forgetIdle(counters: Map<string, Counter>, now: number): void {
  for (const [name, counter] of counters) if (counter.idle(now)) counters.delete(name);
}

/** Never more than the window. */
function asShared({ kind, count, ms }: RateLimitRule): Omit<SharedLimit, 'key'> {
  if (kind === 'bucket') return { count, ms };
  const atOnce = Math.max(1, Math.floor(count / 4));
  return { count: atOnce, ms: Math.ceil(ms / Math.max(1, count - atOnce)) };
}

function noSpare(): number {
  return 0;
}

function quarter({ limit }: Counter): number {
  return Math.floor(limit / 4);
}
