import { AsyncLocalStorage } from 'node:async_hooks';
import { DatabaseFault } from './database-fault.ts';
import type { Answer, Query } from './open-database.ts';

/** The two kinds of work: messages to answer, parts to send. */
export type Kind = 'inbox' | 'outbox';

/** One claim of a lane's job, as the server knows it. */
export type Claim = Readonly<{
  lane: string;
  queue: string;
  /** pg-boss counts claims: the number names this one. */
  job: Readonly<{ id: string; retryCount: number }>;
}>;

/** Without a sign of life for so many seconds a lane is given to another process. pg-boss takes no less than 10. */
export const heartbeatSeconds = 10;
/** Without a word that arrived for so many milliseconds a lane counts as lost: a little before the server would give it away. */
export const trustedMs = heartbeatSeconds * 1_000 - 1_000;

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
   * Runs a statement whose first three values, put there by this, go to `skillet.held`: it writes only while the lane that
   * this call is made for is held. Rejects where it was lost, and nothing is written then, or where the answer came so late
   * that it may be lost by now: this process, or the network, stood still.
   */
  fenced<Row = never>(query: Query, sql: string, values: readonly unknown[]): Promise<Answer<Row>>;
}>;

/** What `skillet.held` says where a lane was lost. */
const lostCode = 'SKL01';

/** `now`: milliseconds that never go back. */
export function createLeases(now = () => performance.now()): Leases {
  const current = new AsyncLocalStorage<Lease>();
  const active = (): Lease | undefined => {
    const lease = current.getStore();
    return lease?.state() === 'released' ? undefined : lease;
  };
  return {
    under: (lease, work) => current.run(lease, work),
    active: () => active() !== undefined,
    async fenced<Row>(query: Query, sql: string, values: readonly unknown[]) {
      const lease = active();
      const { queue = null, job = null } = lease?.claim ?? {};
      const asked = now();
      try {
        const answer = await query<Row>(sql, [queue, job?.id ?? null, job?.retryCount ?? null, ...values]);
        if (lease === undefined || now() - asked <= trustedMs) return answer;
      } catch (error) {
        if (lease === undefined || !(error instanceof DatabaseFault) || error.code !== lostCode) throw error;
        lease.lose();
        throw new Error(`The lane ${lease.claim.lane} was lost to another process: nothing was written`, {
          cause: error,
        });
      }
      lease.lose();
      throw new Error(
        `The database answered too late: the lane ${lease.claim.lane} may be another process's by now`,
      );
    },
  };
}
