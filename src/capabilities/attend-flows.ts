import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { waitWithin } from '../lib/async/race-timeout.ts';
import type { CapabilityRecords, KeptFlow } from '../store/capability-records.ts';
import type { AdvanceFlow } from './advance-flow.ts';
import type { CapabilityKey } from './capability-key.ts';
import { openFlow } from './flow-content.ts';

/** The host's part of sign-ins, in the background. */
export type AttendFlows = Readonly<{
  /** Something may be due now. */
  poke(): void;
  /** Resolves when the signal is aborted and what was under way has ended. */
  run(signal: AbortSignal): Promise<void>;
}>;

/** A sign-in is held for so long, and held on to while it is taken on: where that is over its taker has died. */
const leaseMs = 10_000;
const holdEveryMs = 2_000;
/** What another process began or left is looked for so often. */
const lookEveryMs = 15_000;

/** Sign-ins that are taken on side by side: one whose provider hangs delays no others. */
const most = 8;

/**
 * Does what sign-ins wait for the host to do: codes to providers, device flows to be asked for, identities to be shown (C6). What
 * a process that died left is due again after 10 seconds; what it leaves when it is stopped is due again at once.
 */
export function createAttendFlows(options: {
  records: Pick<CapabilityRecords, 'takeDue' | 'holdOn' | 'nextDue' | 'change'>;
  key: () => Promise<CapabilityKey>;
  advance: AdvanceFlow;
  clock: Clock;
  log: Log;
}): AttendFlows {
  const { records, key, advance, clock, log } = options;
  const waiting = { poked: Promise.withResolvers<void>() };
  const poke = (): void => waiting.poked.resolve();

  async function takeOn(kept: KeptFlow, until: number, signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const lost = new AbortController();
    void hold(kept.id, until, ended.signal, lost);
    try {
      const flow = openFlow(await key(), kept);
      if (flow !== undefined) await advance(flow, AbortSignal.any([signal, lost.signal]));
    } finally {
      ended.abort();
    }
  }

  /** Aborts `lost` where the flow is not held any more: another process has it, or what was to be done is done. */
  async function hold(id: string, until: number, ended: AbortSignal, lost: AbortController): Promise<void> {
    for (let held = until; ;) {
      await clock.sleep(holdEveryMs, ended).catch(() => undefined);
      if (ended.aborted) return;
      const next = clock.now() + leaseMs;
      try {
        if (!(await records.holdOn(id, held, next))) return lost.abort(new Error('it is not held any more'));
        held = next;
      } catch (error) {
        // While the store is away nobody else can take it either.
        if (!ended.aborted) log.warn({ err: error }, 'a sign-in could not be held on to: tried again');
      }
    }
  }

  async function giveBack({ id, state, sealed }: KeptFlow): Promise<void> {
    await records.change(id, state, { state, sealed, dueAt: clock.now() });
  }

  /** Takes on what is due, as far as there is room. When to look again. */
  async function look(underway: Set<Promise<void>>, signal: AbortSignal): Promise<number> {
    while (underway.size < most && !signal.aborted) {
      const now = clock.now();
      const until = now + leaseMs;
      const kept = await records.takeDue(now, until);
      if (kept === undefined) return (await records.nextDue()) ?? Infinity;
      const work = takeOn(kept, until, signal)
        .catch((error: unknown) => {
          if (!signal.aborted) throw error;
          return giveBack(kept);
        })
        .catch((error: unknown) => log.error({ err: error }, 'a sign-in could not be taken on: tried again'))
        .finally(() => {
          underway.delete(work);
          poke();
        });
      underway.add(work);
    }
    return Infinity;
  }

  return {
    poke,
    async run(signal) {
      const underway = new Set<Promise<void>>();
      signal.addEventListener('abort', poke);
      while (!signal.aborted) {
        waiting.poked = Promise.withResolvers();
        let next = Infinity;
        try {
          next = await look(underway, signal);
        } catch (error) {
          if (!signal.aborted) log.error({ err: error }, 'sign-ins could not be looked for: tried again');
        }
        const left = Math.max(1, Math.min(lookEveryMs, next - clock.now()));
        if (!signal.aborted) await waitWithin(clock, waiting.poked.promise, left);
      }
      signal.removeEventListener('abort', poke);
      await Promise.all(underway);
    },
  };
}
