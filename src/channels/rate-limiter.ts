import type { Clock } from '../lib/clock.ts';
import { monotonicClock } from '../lib/async/deadline.ts';

/**
 * One limit. `of` returns which counter a key uses, or undefined for no limit. `window` allows `count` in any `ms`
 * milliseconds. `bucket` allows `count` at once, then one every `ms`.
 */
export type RateLimitRule = Readonly<{
  kind: 'window' | 'bucket';
  count: number;
  ms: number;
  of: (key: string) => string | undefined;
}>;

/** Limits calls to a platform, and lets answers go before status and previews (H8). Keys are chats. */
export type RateLimiter = Readonly<{
  /** For answers: resolves once every rule allows one more, and counts it. */
  wait(key: string): Promise<void>;
  /** For status and previews: true, and counted, if one may go at once. A quarter of each limit is left to answers. */
  take(key: string): boolean;
  /** Stops calls for a key for `ms` milliseconds, as after a 429. */
  pause(key: string, ms: number): void;
}>;

/** A limit that all processes share: `count` at once, then one every `ms` milliseconds. */
type SharedLimit = Readonly<{ key: string; count: number; ms: number }>;

/** Counts for all processes that send under one name (H8, Q9). */
type SharedRateLimiter = Readonly<{ name: string; reserve: Reserve }>;

/** Counts a use and returns how many milliseconds to wait. Never rejects. */
export type Reserve = (limits: readonly SharedLimit[]) => Promise<number>;

/** Makes a rate limiter. Waiting does not keep the process alive. */
export function createRateLimiter(
  rules: readonly RateLimitRule[],
  clock: Clock,
  shared?: SharedRateLimiter,
): RateLimiter {
  const time = monotonicClock(clock);
  const limits = createLimits(rules);
  const queues = createQueues(limits, time, clock);
  const others = shared && createOthers(rules, time, shared);
  return {
    async wait(key) {
      await queues.wait(key);
      const ms = others === undefined ? 0 : await others.reserve(key);
      if (ms > 0) await clock.sleep(ms);
    },
    take(key) {
      const now = time();
      if (queues.has(key) || others?.leaveNone(key, now) === true) return false;
      if (limits.readyAt(key, now, quarter) > now) return false;
      limits.count(key, now);
      void others?.reserve(key);
      return true;
    },
    pause(key, ms) {
      limits.pause(key, ms, time());
    },
  };
}

/** The limits of this process. `spare` is how much of each stays free. */
type Limits = Readonly<{
  readyAt(key: string, now: number, spare: (counter: Counter) => number): number;
  count(key: string, now: number): void;
  pause(key: string, ms: number, now: number): void;
}>;

function createLimits(rules: readonly RateLimitRule[]): Limits {
  const counters = new Map<string, Counter>();
  const paused = createHolds();
  const countersOf = (key: string): readonly Counter[] =>
    bucketsOf(rules, key).map(({ name, rule }) => {
      const counter = counters.get(name) ?? createCounter(rule);
      counters.set(name, counter);
      return counter;
    });
  return {
    readyAt(key, now, spare) {
      const allowed = countersOf(key).map((counter) => counter.readyAt(now, spare(counter)));
      return Math.max(now, paused.until(key), ...allowed);
    },
    count(key, now) {
      for (const counter of countersOf(key)) counter.add(now);
      if (counters.size > 1000) forgetIdle(counters, now);
    },
    pause: paused.hold,
  };
}

function bucketsOf(
  rules: readonly RateLimitRule[],
  key: string,
): readonly Readonly<{ name: string; rule: RateLimitRule }>[] {
  return rules.flatMap((rule, index) => {
    const bucket = rule.of(key);
    return bucket === undefined ? [] : [{ name: `${index} ${bucket}`, rule }];
  });
}

/** Answers that wait, in order for each key. */
function createQueues(
  limits: Limits,
  time: () => number,
  clock: Clock,
): Readonly<{ wait(key: string): Promise<void>; has(key: string): boolean }> {
  const waiting = new Map<string, (() => void)[]>();
  const alarm = createAlarm(clock, release);

  function release(): void {
    const now = time();
    let next = Infinity;
    for (const [key, queue] of [...waiting]) {
      let at = limits.readyAt(key, now, noSpare);
      const hasTurn = at <= now;
      while (at <= now && queue.length > 0) {
        limits.count(key, now);
        queue.shift()?.();
        at = limits.readyAt(key, now, noSpare);
      }
      // Keys share the overall limit, so one that had its turn goes to the back.
      if (hasTurn) waiting.delete(key);
      if (queue.length === 0) continue;
      waiting.set(key, queue);
      next = Math.min(next, at);
    }
    alarm.set(next, now);
  }

  return {
    has: (key) => waiting.has(key),
    wait: (key) =>
      new Promise((resolve) => {
        const now = time();
        const queue = waiting.get(key);
        const at = limits.readyAt(key, now, noSpare);
        if (queue !== undefined) queue.push(resolve);
        else if (at > now) {
          waiting.set(key, [resolve]);
          if (at < alarm.due()) alarm.set(at, now);
        } else {
          limits.count(key, now);
          resolve();
        }
      }),
  };
}

/** Rings once at the time that was set last. `Infinity` sets none. */
function createAlarm(
  clock: Clock,
  ring: () => void,
): Readonly<{ due(): number; set(due: number, now: number): void }> {
  const timer: { due: number; abort: AbortController | undefined } = { due: Infinity, abort: undefined };
  return {
    due: () => timer.due,
    set(due, now) {
      timer.abort?.abort();
      timer.abort = due === Infinity ? undefined : new AbortController();
      timer.due = due;
      if (timer.abort === undefined) return;
      const { signal } = timer.abort;
      clock.sleep(due - now, signal).then(
        () => {
          timer.due = Infinity;
          ring();
        },
        (reason: unknown) => {
          if (!signal.aborted) throw reason;
        },
      );
    },
  };
}

/** What other processes leave of the limits. */
function createOthers(
  rules: readonly RateLimitRule[],
  time: () => number,
  { name, reserve }: SharedRateLimiter,
): Readonly<{ leaveNone(key: string, now: number): boolean; reserve(key: string): Promise<number> }> {
  const taken = createHolds();
  return {
    leaveNone: (key, now) => taken.until(key) > now,
    async reserve(key) {
      const limits = bucketsOf(rules, key).map((one) => ({
        key: `${name} ${one.name}`,
        ...asShared(one.rule),
      }));
      const ms = limits.length === 0 ? 0 : await reserve(limits);
      taken.hold(key, ms, time());
      return ms;
    },
  };
}

function createHolds(): Readonly<{
  until(key: string): number;
  hold(key: string, ms: number, now: number): void;
}> {
  const ends = new Map<string, number>();
  return {
    until: (key) => ends.get(key) ?? 0,
    hold(key, ms, now) {
      for (const [old, end] of ends) if (end <= now) ends.delete(old);
      if (ms > 0) ends.set(key, Math.max(ends.get(key) ?? 0, now + ms));
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
  // The times at which places become free again.
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

/** A limit for all processes that never allows more than the window. */
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
