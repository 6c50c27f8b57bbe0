import { waitUntil } from '../lib/async/wait-until.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { CapabilityRecords, KeptFlow } from '../store/capability-records.ts';

/** A process renews its lease while it works. A lease that ran out means that the process is dead. */
export const leaseMs = 10_000;

const holdEveryMs = 2_000;

/** How often, in milliseconds, to look for sign-ins that another process began or left. */
const lookEveryMs = 15_000;

/** How many sign-ins are worked on at once, so that a provider that hangs delays no others. */
const most = 8;

type SignInWorker = Readonly<{
  wake(): void;
  /** Works until `signal` aborts. Resolves once running work has ended. */
  run(signal: AbortSignal): Promise<void>;
}>;

type SignInWorkerDeps = Readonly<{
  records: CapabilityRecords;
  /** Does the next step of a sign-in that is due. */
  advance(kept: KeptFlow, signal: AbortSignal): Promise<unknown>;
  clock: Clock;
  log: Log;
}>;

/**
 * Works on sign-ins: sends codes, polls device flows, shows identities (C6). Work of a process that crashed is due
 * after 10 seconds; that of one that stopped is due at once.
 */
export function createSignInWorker(deps: SignInWorkerDeps): SignInWorker {
  const { records, clock, log } = deps;
  const workOn = createWorkOn(deps);
  const worker: { wake?: () => void } = {};
  const wake = (): void => worker.wake?.();

  async function giveBack({ id, state, sealed }: KeptFlow): Promise<void> {
    await records.change(id, state, { state, sealed, dueAt: clock.now() });
  }

  /** Starts work on what is due. Returns when to look again (Unix ms). */
  async function look(underway: Set<Promise<void>>, signal: AbortSignal): Promise<number> {
    while (underway.size < most && !signal.aborted) {
      const now = clock.now();
      const until = now + leaseMs;
      const kept = await records.takeDue(now, until);
      if (kept === undefined) return (await records.nextDue()) ?? Infinity;
      const work = workOn(kept, until, signal)
        .catch((error: unknown) => {
          if (!signal.aborted) throw error;
          return giveBack(kept);
        })
        .catch((error: unknown) =>
          log.error({ err: error }, 'could not start work on a sign-in: trying again'),
        )
        .finally(() => {
          underway.delete(work);
          wake();
        });
      underway.add(work);
    }
    return Infinity;
  }

  return {
    wake,
    async run(signal) {
      const underway = new Set<Promise<void>>();
      const lookAgain = async (): Promise<number> => {
        const next = await look(underway, signal).catch((error: unknown) => {
          if (!signal.aborted) log.error({ err: error }, 'could not look for sign-ins: trying again');
          return Infinity;
        });
        return Math.max(1, Math.min(lookEveryMs, next - clock.now()));
      };
      const subscribe = (wake: () => void) => {
        worker.wake = wake;
        return () => undefined;
      };
      await waitUntil(lookAgain, { signal, clock, subscribe }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      await Promise.all(underway);
    },
  };
}

/** Makes the function that does the next step of a sign-in and meanwhile renews its lease, which ends at `until`. */
function createWorkOn({ records, advance, clock, log }: SignInWorkerDeps) {
  return async (kept: KeptFlow, until: number, signal: AbortSignal): Promise<void> => {
    const ended = new AbortController();
    const lost = new AbortController();
    void hold(kept.id, until, ended.signal, lost);
    try {
      await advance(kept, AbortSignal.any([signal, lost.signal]));
    } finally {
      ended.abort();
    }
  };

  /** Renews the lease until `ended` aborts. Aborts `lost` if another process has the work or it is done. */
  async function hold(id: string, until: number, ended: AbortSignal, lost: AbortController): Promise<void> {
    for (let held = until; ;) {
      await clock.sleep(holdEveryMs, ended).catch(() => undefined);
      if (ended.aborted) return;
      const next = clock.now() + leaseMs;
      try {
        if (!(await records.holdOn(id, held, next))) return lost.abort(new Error('it is not held any more'));
        held = next;
      } catch (error) {
        // The store is away, so nobody else can take it either.
        if (!ended.aborted) log.warn({ err: error }, 'could not keep the lease of a sign-in: trying again');
      }
    }
  }
}
