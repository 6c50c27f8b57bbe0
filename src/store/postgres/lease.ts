import { AsyncLocalStorage } from 'node:async_hooks';
import type { SqlAnswer } from '../sql.ts';
import { DatabaseFault, type Query } from './open-database.ts';

export type QueueKind = 'inbox' | 'outbox';

export type Claim = Readonly<{
  queue: string;
  jobQueue: string;
  /** The job of the queue. `retryCount` identifies this claim of it. */
  job: Readonly<{ id: string; retryCount: number }>;
  /** Id from `skillet.epoch`. It changes when the server restarts after a crash and loses unlogged tables. */
  epoch: string;
}>;

/** After this many seconds of silence another process gets the queue. pg-boss requires at least 10. */
export const heartbeatSeconds = 10;
/** Milliseconds after which the holder gives up, a little earlier than the server does. */
export const trustedMs = heartbeatSeconds * 1_000 - 1_000;

export type Lease = Readonly<{
  claim: Claim;
  /** Aborted when another process may have the queue. */
  lost: AbortSignal;
  /** Marks the queue as lost; does nothing once it was released. */
  lose(): void;
  state(): 'held' | 'lost' | 'released';
  /** Ends the lease. Later writes of the queue are not fenced. */
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
      losing.abort(new DOMException('another process may have the queue', 'AbortError'));
    },
    state: () => state.now,
    release() {
      if (state.now === 'held') state.now = 'released';
    },
  };
}

/** The claim of the queue that writes. All members are null outside of a queue. */
export type Fence = Readonly<{
  epoch: string | null;
  jobQueue: string | null;
  job: string | null;
  attempt: number | null;
}>;

export const lost = Symbol('lost');

/** Knows for which queue code runs, so that a write is refused once its queue was lost (Q9). */
export type Leases = Readonly<{
  under<T>(lease: Lease, work: () => Promise<T>): Promise<T>;
  active(): boolean;
  /**
   * Writes only while this call's queue is held. Rejects if the queue was lost, or if the answer came so late that it
   * may be.
   */
  fenced<T>(write: (fence: Fence) => Promise<T | typeof lost>): Promise<T>;
  /** Runs a query whose first four values, added here, go to `skillet.held`. */
  fencedQuery<Row = never>(query: Query, sql: string, values: readonly unknown[]): Promise<SqlAnswer<Row>>;
}>;

/** Error code of `skillet.held` if a queue was lost. */
const lostCode = 'SKL01';

/**
 * Makes the leases. `now` returns milliseconds that never go back. `onLost` is called for each queue that the server
 * says is lost.
 */
export function createLeases(onLost: () => void = () => undefined, now = () => performance.now()): Leases {
  const current = new AsyncLocalStorage<Lease>();
  const active = (): Lease | undefined => {
    const lease = current.getStore();
    return lease?.state() === 'released' ? undefined : lease;
  };

  async function fenced<T>(write: (fence: Fence) => Promise<T | typeof lost>): Promise<T> {
    const lease = active();
    const { epoch = null, jobQueue = null, job = null } = lease?.claim ?? {};
    const asked = now();
    const answer = await write({ epoch, jobQueue, job: job?.id ?? null, attempt: job?.retryCount ?? null });
    if (answer === lost) {
      lease?.lose();
      onLost();
      throw new Error(
        `The queue ${lease?.claim.queue ?? ''} was lost to another process: nothing was written`,
      );
    }
    if (lease === undefined || now() - asked <= trustedMs) return answer;
    lease.lose();
    throw new Error(
      `The database answered too late: the queue ${lease.claim.queue} may be another process's by now`,
    );
  }

  return {
    under: (lease, work) => current.run(lease, work),
    active: () => active() !== undefined,
    fenced,
    fencedQuery: <Row>(query: Query, sql: string, values: readonly unknown[]) =>
      fenced(async ({ epoch, jobQueue, job, attempt }) => {
        try {
          return await query<Row>(sql, [epoch, jobQueue, job, attempt, ...values]);
        } catch (error) {
          if (error instanceof DatabaseFault && error.code === lostCode) return lost;
          throw error;
        }
      }),
  };
}

export function fenceValues(fences: readonly Fence[]): readonly [unknown[], unknown[], unknown[], unknown[]] {
  return [
    fences.map(({ epoch }) => epoch),
    fences.map(({ jobQueue }) => jobQueue),
    fences.map(({ job }) => job),
    fences.map(({ attempt }) => attempt),
  ];
}
