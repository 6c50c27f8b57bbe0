import type { Log } from '../../core/log.ts';
import { trustedMs, type Lease } from './lease.ts';
import type { Jobs } from './open-jobs.ts';

/** Keeps alive the lanes that this process holds, all of them together. */
export type Heartbeat = Readonly<{
  /** From now on; `since`: when the lane was claimed (monotonic milliseconds, before the server was asked). */
  keep(lease: Lease, since: number): void;
  /** What is still held is held no more: the store was closed under it. */
  close(): void;
}>;

const touchMs = 3_000;
const tickMs = 1_000;

export function createHeartbeat(jobs: Jobs, log: Log): Heartbeat {
  /** Held leases, and when the last sign of life that surely arrived was sent. */
  const aliveAt = new Map<Lease, number>();
  const state = { touching: false, touchedAt: 0 };
  const timer = setInterval(tick, tickMs).unref();

  function tick(): void {
    const now = performance.now();
    for (const [lease, at] of aliveAt) {
      if (lease.state() !== 'held') aliveAt.delete(lease);
      else if (now - at > trustedMs) lose(lease);
    }
    if (aliveAt.size > 0 && !state.touching && now - state.touchedAt >= touchMs) void touch(now);
  }

  async function touch(now: number): Promise<void> {
    state.touching = true;
    state.touchedAt = now;
    const leases = [...aliveAt.keys()];
    try {
      const lost = new Set(await jobs.touch(leases.map(({ claim }) => claim)));
      for (const lease of leases) {
        if (lease.state() !== 'held') continue;
        if (lost.has(lease.claim)) lose(lease);
        else aliveAt.set(lease, now);
      }
    } catch (error) {
      log.debug({ err: error }, 'the lanes held here could not be kept alive; trying again');
    } finally {
      state.touching = false;
    }
  }

  function lose(lease: Lease): void {
    aliveAt.delete(lease);
    log.warn({ lane: lease.claim.lane }, 'a lane was lost: another process may have it');
    lease.lose();
  }

  return {
    keep: (lease, since) => void aliveAt.set(lease, since),
    close() {
      clearInterval(timer);
      for (const lease of aliveAt.keys()) lease.lose();
    },
  };
}
