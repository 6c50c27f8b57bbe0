import type { Log } from '../../lib/log.ts';
import { trustedMs, type Claim, type Lease } from './lease.ts';

export type Heartbeat = Readonly<{
  /** Keeps a lease alive. `since` is the time before the claim was sent, in monotonic milliseconds. */
  keep(lease: Lease, since: number): void;
  /**
   * Resolves once no heartbeat touches this queue, until `resume`. A heartbeat and a statement that returns several
   * queues could otherwise deadlock.
   */
  pause(lease: Lease): Promise<void>;
  resume(lease: Lease): void;
  held(): readonly Claim[];
  onTaken(listener: () => void): void;
  close(): void;
}>;

const touchMs = 3_000;
const tickMs = 1_000;

/**
 * Sends heartbeats for held queues. `touch` returns the ones that were lost. `now` returns milliseconds that never go
 * back.
 */
export function createHeartbeat(
  touch: (claims: readonly Claim[]) => Promise<readonly Claim[]>,
  log: Log,
  now = () => performance.now(),
): Heartbeat {
  /** When the last heartbeat that the server answered was sent. */
  const aliveAt = new Map<Lease, number>();
  const paused = new Set<Lease>();
  const state: { touching?: Promise<void>; notBefore: number; closed: boolean } = {
    notBefore: -Infinity,
    closed: false,
  };
  const listeners = new Set<() => void>();
  const timer = setInterval(tick, tickMs).unref();

  function tick(): void {
    for (const [lease, at] of aliveAt) {
      if (lease.state() !== 'held') drop(lease);
      else if (now() - at > trustedMs) lose(lease);
    }
    touchIfDue();
  }

  /** Touches all queues that are not paused, once one of them needs it. */
  function touchIfDue(): void {
    const at = now();
    if (state.touching !== undefined || at < state.notBefore) return;
    const leases = [...aliveAt.keys()].filter((lease) => lease.state() === 'held' && !paused.has(lease));
    if (!leases.some((lease) => at - (aliveAt.get(lease) ?? at) >= touchMs)) return;
    state.touching = touchAll(leases, at).finally(() => {
      delete state.touching;
      touchIfDue();
    });
  }

  async function touchAll(leases: readonly Lease[], at: number): Promise<void> {
    try {
      const lost = new Set(await touch(leases.map(({ claim }) => claim)));
      for (const lease of leases) {
        if (lease.state() !== 'held') continue;
        if (lost.has(lease.claim)) lose(lease);
        else aliveAt.set(lease, at);
      }
    } catch (error) {
      state.notBefore = at + tickMs;
      log.debug({ err: error }, 'the queues held here could not be kept alive; trying again');
    }
  }

  function drop(lease: Lease): void {
    aliveAt.delete(lease);
    paused.delete(lease);
  }

  function lose(lease: Lease): void {
    drop(lease);
    log.warn({ queue: lease.claim.queue }, 'lost a queue: another process may have it');
    lease.lose();
  }

  return {
    keep(lease, since) {
      if (state.closed) lease.lose();
      else aliveAt.set(lease, since);
      for (const listener of listeners) listener();
    },
    async pause(lease) {
      if (aliveAt.has(lease)) paused.add(lease);
      await state.touching;
    },
    resume(lease) {
      paused.delete(lease);
      // A pause may coincide with each tick, so it looks again here.
      touchIfDue();
    },
    held: () => Array.from(aliveAt.keys(), ({ claim }) => claim),
    onTaken: (listener) => void listeners.add(listener),
    close() {
      state.closed = true;
      clearInterval(timer);
      for (const lease of aliveAt.keys()) lease.lose();
    },
  };
}
