import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { waitWithin } from '../core/wait-within.ts';
import type { CapabilityRecords } from '../stores/capability-records.ts';
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

/**
 * Does what sign-ins wait for the host to do: codes to providers, device flows to be asked for, identities to be shown (C6). What
 * a process that died left is taken up by whoever looks next.
 */
export function createAttendFlows(options: {
  records: Pick<CapabilityRecords, 'takeDue' | 'nextDue'>;
  key: () => Promise<CapabilityKey>;
  advance: AdvanceFlow;
  clock: Clock;
  log: Log;
}): AttendFlows {
  const { records, key, advance, clock, log } = options;
  const waiting = { poked: Promise.withResolvers<void>() };

  async function attend(signal: AbortSignal): Promise<void> {
    for (;;) {
      const now = clock.now();
      const kept = await records.takeDue(now, now + leaseMs);
      if (kept === undefined || signal.aborted) return;
      const flow = openFlow(await key(), kept);
      if (flow !== undefined) await advance(flow, signal);
    }
  }

  return {
    poke: () => waiting.poked.resolve(),
    async run(signal) {
      const poke = (): void => waiting.poked.resolve();
      signal.addEventListener('abort', poke);
      while (!signal.aborted) {
        waiting.poked = Promise.withResolvers();
        let next: number | undefined;
        try {
          await attend(signal);
          next = await records.nextDue();
        } catch (error) {
          if (!signal.aborted) log.error({ err: error }, 'sign-ins could not be taken on: tried again');
        }
        if (signal.aborted) break;
        const left = Math.max(1, Math.min(lookEveryMs, (next ?? Infinity) - clock.now()));
        await waitWithin(clock, waiting.poked.promise, left);
      }
      signal.removeEventListener('abort', poke);
    },
  };
}
