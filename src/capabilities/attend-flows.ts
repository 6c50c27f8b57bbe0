import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { waitWithin } from '../core/wait-within.ts';
import type { CapabilityRecords, KeptFlow } from '../stores/capability-records.ts';
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

/** Longer than any call of a provider takes: then its taker has died. */
const leaseMs = 330_000;
/** What another process began is looked for so often. */
const lookEveryMs = 60_000;

/** Sign-ins that are taken on side by side: one whose provider hangs delays no others. */
const most = 8;

/**
 * Does what sign-ins wait for the host to do: codes to providers, device flows to be asked for, identities to be shown (C6). What
 * a process that died left is taken up by whoever looks next; what it leaves when it is stopped is due again at once.
 */
export function createAttendFlows(options: {
  records: Pick<CapabilityRecords, 'takeDue' | 'nextDue' | 'change'>;
  key: () => Promise<CapabilityKey>;
  advance: AdvanceFlow;
  clock: Clock;
  log: Log;
}): AttendFlows {
  const { records, key, advance, clock, log } = options;
  const waiting = { poked: Promise.withResolvers<void>() };
  const poke = (): void => waiting.poked.resolve();

  async function takeOn(kept: KeptFlow, signal: AbortSignal): Promise<void> {
    const flow = openFlow(await key(), kept);
    if (flow !== undefined) await advance(flow, signal);
  }

  async function giveBack({ id, state, sealed }: KeptFlow): Promise<void> {
    await records.change(id, state, { state, sealed, dueAt: clock.now() });
  }

  /** Takes on what is due, as far as there is room. When to look again. */
  async function look(underway: Set<Promise<void>>, signal: AbortSignal): Promise<number> {
    while (underway.size < most && !signal.aborted) {
      const now = clock.now();
      const kept = await records.takeDue(now, now + leaseMs);
      if (kept === undefined) return (await records.nextDue()) ?? Infinity;
      const work = takeOn(kept, signal)
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
