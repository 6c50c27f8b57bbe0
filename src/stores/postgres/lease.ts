import { AsyncLocalStorage } from 'node:async_hooks';
import type { Query } from './open-database.ts';

/** The two kinds of work: messages to answer, parts to send. */
export type Kind = 'inbox' | 'outbox';

/** One claim of a lane's job, as the server knows it. */
export type Claim = Readonly<{
  lane: string;
  queue: string;
  /** pg-boss counts claims: the number names this one. */
  job: Readonly<{ id: string; retryCount: number }>;
}>;

/** The right of this process to work in a lane. */
export type Lease = Readonly<{
  claim: Claim;
  /** Aborted when another process may have the lane. */
  lost: AbortSignal;
  /** Says that it was lost; nothing once it was released. */
  lose(): void;
  state(): 'held' | 'lost' | 'released';
  /** Gives it back in order: what is still written by what the lane began is fenced no more. */
  release(): void;
}>;

export function createLease(claim: Claim): Lease {
  const losing = new AbortController();
  const state: { now: ReturnType<Lease['state']> } = { now: 'held' };
  return {
    claim,
    lost: losing.signal,
    lose() {
      if (state.now !== 'held') return;
      state.now = 'lost';
      losing.abort(new DOMException('another process may have the lane', 'AbortError'));
    },
    state: () => state.now,
    release() {
      if (state.now === 'held') state.now = 'released';
    },
  };
}

/** Remembers on whose behalf code runs, so that a write can be refused when its lane was lost meanwhile (Q9). */
export type Leases = Readonly<{
  under<T>(lease: Lease, work: () => Promise<T>): Promise<T>;
  /** Whether this call is made on behalf of a lane that was not given back. */
  active(): boolean;
  /**
   * Inside a transaction: makes sure that the lane this call is made for is still held, and keeps it held until the
   * transaction ends. Throws where it was lost.
   */
  fence(query: Query): Promise<void>;
}>;

export function createLeases(): Leases {
  const current = new AsyncLocalStorage<Lease>();
  const active = (): Lease | undefined => {
    const lease = current.getStore();
    return lease?.state() === 'released' ? undefined : lease;
  };
  return {
    under: (lease, work) => current.run(lease, work),
    active: () => active() !== undefined,
    async fence(query) {
      const lease = active();
      if (lease === undefined) return;
      const { queue, lane, job } = lease.claim;
      // Whoever takes the lane over replaces the job's row, and waits for this transaction to do so.
      const { rows } = await query(
        `SELECT 1 FROM skillet_jobs.job_common WHERE name = $1 AND id = $2 AND state = 'active' AND retry_count = $3
         FOR KEY SHARE`,
        [queue, job.id, job.retryCount],
      );
      if (rows.length > 0) return;
      lease.lose();
      throw new Error(`The lane ${lane} was lost to another process: nothing was written`);
    },
  };
}
