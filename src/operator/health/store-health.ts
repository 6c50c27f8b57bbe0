import type { Words } from '../../core/texts/say.ts';
import { skilletHere } from '../../core/skillet-here.ts';
import { inlineCode } from '../../lib/text/text.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { helpDamaged, isDamage, storeFault } from '../../store/store-fault.ts';

export type StoreState = Readonly<{ ok: true } | { ok: false; reason: string; since: number }>;

/** When the store was away, in Unix milliseconds, and why. */
export type Outage = Readonly<{ from: number; to: number; reason: string }>;

export type Damage = Readonly<{ reason: string; since: number }>;

/** Knows whether the store works. In an outage, work waits (Q11). */
export type StoreHealth = Readonly<{
  state(): StoreState;
  /** Call with any error: if it is a fault of the database, an outage begins. */
  met(error: unknown): void;
  /**
   * Makes a call, and again after an outage. If the call may have been carried out, that happens only if it is
   * `repeatable`.
   */
  patient<T>(call: () => Promise<T>, how?: Readonly<{ repeatable: boolean }>): Promise<T>;
  /** Does work for an arrival. Rejects in an outage, so that the platform sends it again. */
  admitting<T>(work: () => Promise<T>): Promise<T>;
  /** Call when the store is damaged. It counts as damaged until the process ends, even if it works. */
  damaged(reason: string): void;
  /** Begins to check the store. `onDamage` is called at most once. */
  start(onOutage: (outage: Outage) => void, onDamage?: (damage: Damage) => void): void;
  stop(): void;
}>;

const wellMs = 60_000;
/** Milliseconds between checks in an outage. They grow, because a check may block for a second. */
const shortestMs = 1_000;
const longestMs = 5_000;
/** If an outage follows another within this time, checks become rarer, as with a disk at its limit. */
const relapseMs = 60_000;
const longestRelapseMs = 60_000;
const remindMs = 10 * 60_000;

/** Makes it. `check` rejects while the database can't be used. */
export function createStoreHealth(options: {
  check(): Promise<void>;
  onFault(): void;
  clock: Clock;
  log: Log;
}): StoreHealth {
  const { check, onFault, clock, log } = options;
  const calls = createWaitingCalls(met);
  const admissions = new Set<(error: Error) => void>();
  const stopping = new AbortController();
  /** Reported until the process ends, because waiting does not repair damage (Q11). */
  let damage: Damage | undefined;
  let red: Readonly<{ reason: string; since: number }> | undefined;
  let lastOverAt = Number.NEGATIVE_INFINITY;
  let firstPauseMs = shortestMs;
  let tell: (outage: Outage) => void = () => undefined;
  let tellDamage: ((damage: Damage) => void) | undefined;

  function damaged(reason: string): void {
    if (damage !== undefined) return;
    damage = { reason: `it is damaged: ${reason}`, since: clock.now() };
    log.error({ reason }, 'the store is damaged');
    tellDamage?.(damage);
  }

  function met(error: unknown): void {
    const fault = storeFault(error);
    if (fault === undefined || stopping.signal.aborted) return;
    if (isDamage(error)) damaged(`${fault.reason}. ${helpDamaged()}`);
    if (red !== undefined) {
      red = { ...red, reason: fault.reason };
      return;
    }
    const since = clock.now();
    red = { reason: fault.reason, since };
    const relapse = since - lastOverAt < relapseMs;
    firstPauseMs = relapse ? Math.min(firstPauseMs * 2, longestRelapseMs) : shortestMs;
    log.error({ err: error }, 'the store does not work: the bot accepts and starts nothing until it does');
    onFault();
    const refusal = notNow(fault.reason);
    for (const refuse of admissions) refuse(refusal);
    void recover(since, firstPauseMs);
  }

  async function recover(since: number, firstMs: number): Promise<void> {
    let remindAt = since + remindMs;
    for (let ms = firstMs; ; ms = Math.max(firstMs, Math.min(ms * 2, longestMs))) {
      if (!(await slept(ms))) return;
      if (await works()) break;
      if (clock.now() < remindAt) continue;
      remindAt = clock.now() + remindMs;
      log.warn({ reason: red?.reason, since: iso(since) }, 'the store still does not work');
    }
    const outage = { from: since, to: clock.now(), reason: red?.reason ?? '' };
    red = undefined;
    lastOverAt = outage.to;
    log.warn({ ...outage, from: iso(outage.from), to: iso(outage.to) }, 'the store works again');
    calls.tryAll();
    tell(outage);
  }

  /** Whether the store works. A check writes little, so the first waiting call must succeed, too. */
  async function works(): Promise<boolean> {
    try {
      await check();
    } catch (error) {
      met(error);
      return false;
    }
    return calls.tryFirst();
  }

  async function slept(ms: number): Promise<boolean> {
    await clock.sleep(ms, stopping.signal).catch(() => undefined);
    return !stopping.signal.aborted;
  }

  async function watch(): Promise<void> {
    while (await slept(wellMs)) if (red === undefined) await check().catch(met);
  }

  return {
    met,
    state() {
      const fault = damage ?? red;
      return fault === undefined ? { ok: true } : { ok: false, ...fault };
    },
    async patient(call, { repeatable } = { repeatable: false }) {
      if (red !== undefined && !stopping.signal.aborted) return calls.add(call, { repeatable });
      try {
        return await call();
      } catch (error) {
        met(error);
        if (storeFault(error) === undefined || stopping.signal.aborted) throw error;
        return calls.add(call, { repeatable, failure: error as Error });
      }
    },
    async admitting(work) {
      if (red !== undefined) throw notNow(red.reason);
      const refused = Promise.withResolvers<never>();
      admissions.add(refused.reject);
      try {
        return await Promise.race([work(), refused.promise]);
      } catch (error) {
        met(error);
        throw error;
      } finally {
        admissions.delete(refused.reject);
      }
    },
    damaged,
    start(onOutage, onDamage) {
      tell = onOutage;
      tellDamage = onDamage;
      if (damage !== undefined) onDamage?.(damage);
      void watch();
    },
    stop() {
      stopping.abort();
      calls.giveUp(notNow(red?.reason ?? 'the bot stops'));
    },
  };
}

function notNow(reason: string): Error {
  return new Error(`the store cannot be used now: ${reason}`);
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

/** Calls that wait for the end of an outage, in order of arrival (Q11). */
type WaitingCalls = Readonly<{
  /**
   * Adds a call; `failure` is its first error. It keeps the async context, which tells a shared store the queue (Q9).
   */
  add<T>(call: () => Promise<T>, how: Readonly<{ repeatable: boolean; failure?: Error }>): Promise<T>;
  tryFirst(): Promise<boolean>;
  /** Makes all waiting calls at once. Those that are refused again keep waiting. */
  tryAll(): void;
  giveUp(reason: Error): void;
}>;

type Waiting = Readonly<{
  make(): Promise<'made' | 'refused' | 'cut_off'>;
  giveUp(reason: Error): void;
}>;

function createWaitingCalls(met: (error: unknown) => void): WaitingCalls {
  const waiting: Waiting[] = [];

  async function make(call: Waiting): Promise<boolean> {
    const outcome = await call.make();
    if (outcome === 'refused') waiting.unshift(call);
    return outcome === 'made';
  }

  return {
    add(call, { repeatable, failure }) {
      const mayRepeat = (error: unknown): boolean => repeatable || storeFault(error)?.undone !== false;
      const inContext = AsyncLocalStorage.snapshot();
      return new Promise((resolve, reject) => {
        waiting.push({
          async make() {
            if (failure !== undefined && !mayRepeat(failure)) {
              reject(failure);
              return 'made';
            }
            try {
              resolve(await inContext(call));
              return 'made';
            } catch (error) {
              met(error);
              const fault = storeFault(error);
              if (fault !== undefined && mayRepeat(error)) return 'refused';
              reject(error instanceof Error ? error : new Error(String(error)));
              return fault === undefined ? 'made' : 'cut_off';
            }
          },
          giveUp: (reason) => reject(failure ?? reason),
        });
      });
    },
    async tryFirst() {
      const first = waiting.shift();
      return first === undefined || make(first);
    },
    tryAll() {
      for (const call of waiting.splice(0)) void make(call);
    },
    giveUp(reason) {
      for (const call of waiting.splice(0)) call.giveUp(reason);
    },
  };
}

/**
 * Tells owners about damage. The reason is long and names files, so it is only in the log, the status and the doctor's
 * report.
 */
export function damageNotice({ since }: Damage): Readonly<{ key: string; words: Words }> {
  return {
    key: `store-damaged:${new Date(since).toISOString()}`,
    words: (say) =>
      say`My store is damaged: some of what was stored is lost, and a message may be answered again. I continue with what is left. On the server, ${inlineCode(`${skilletHere()} doctor`)} says what is wrong.`,
  };
}

/** Tells owners about an outage. The key limits these notices to one an hour (Q11). */
export function outageNotice(
  { from, to, reason }: Outage,
  zone: string,
): Readonly<{ key: string; words: Words }> {
  return {
    key: `store:${new Date(to).toISOString().slice(0, 13)}`,
    words: (say) =>
      say`My store was unavailable from ${say.time(from, zone)} to ${say.time(to, zone)}: ${inlineCode(reason)}. It works again. I continue where I stopped, and answer what arrived meanwhile.`,
  };
}
