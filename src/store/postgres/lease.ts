import { AsyncLocalStorage } from 'node:async_hooks';
import type { Answer } from '../sql.ts';
import { DatabaseFault, type Query } from './open-database.ts';

/** The two kinds of work: messages to answer, parts to send. */
export type Kind = 'inbox' | 'outbox';

/** One claim of a lane's job, as the server knows it. */
export type Claim = Readonly<{
  lane: string;
  queue: string;
  /** pg-boss counts claims: the number names this one. */
  job: Readonly<{ id: string; retryCount: number }>;
  /** Names the stretch of the server's life in which nothing was forgotten (`skillet.epoch`). */
  epoch: string;
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

/** What a write shows to be let through: the claim of the lane it is made for, or nothing if it is made for none. */
export type Fence = Readonly<{
  epoch: string | null;
  queue: string | null;
  job: string | null;
  attempt: number | null;
}>;

/** What a write gives where it was refused: the lane is another process's. */
export const lost = Symbol('lost');

/** Remembers on whose behalf code runs, so that a write can be refused when its lane was lost meanwhile (Q9). */
export type Leases = Readonly<{
  under<T>(lease: Lease, work: () => Promise<T>): Promise<T>;
  /** Whether this call is made on behalf of a lane that was not given back. */
  active(): boolean;
  /**
   * Writes only while the lane that this call is made for is held. Rejects where it was lost, and nothing is written then,
   * or where the answer came so late that it may be lost by now: this process, or the network, stood still.
   */
  fenced<T>(write: (fence: Fence) => Promise<T | typeof lost>): Promise<T>;
  /** The same for one statement, whose first four values, put there by this, go to `skillet.held`. */
  fencedQuery<Row = never>(query: Query, sql: string, values: readonly unknown[]): Promise<Answer<Row>>;
}>;

/** What `skillet.held` says where a lane was lost. */
const lostCode = 'SKL01';

/** `now`: milliseconds that never go back. `onLost` hears of each lane that the server said is lost. */
export function createLeases(onLost: () => void = () => undefined, now = () => performance.now()): Leases {
  const current = new AsyncLocalStorage<Lease>();
  const active = (): Lease | undefined => {
    const lease = current.getStore();
    return lease?.state() === 'released' ? undefined : lease;
  };

  async function fenced<T>(write: (fence: Fence) => Promise<T | typeof lost>): Promise<T> {
    const lease = active();
    const { epoch = null, queue = null, job = null } = lease?.claim ?? {};
    const asked = now();
    const answer = await write({ epoch, queue, job: job?.id ?? null, attempt: job?.retryCount ?? null });
    if (answer === lost) {
      lease?.lose();
      onLost();
      throw new Error(`The lane ${lease?.claim.lane ?? ''} was lost to another process: nothing was written`);
    }
    if (lease === undefined || now() - asked <= trustedMs) return answer;
    lease.lose();
    throw new Error(
      `The database answered too late: the lane ${lease.claim.lane} may be another process's by now`,
    );
  }

  return {
    under: (lease, work) => current.run(lease, work),
    active: () => active() !== undefined,
    fenced,
    fencedQuery: <Row>(query: Query, sql: string, values: readonly unknown[]) =>
      fenced(async ({ epoch, queue, job, attempt }) => {
        try {
          return await query<Row>(sql, [epoch, queue, job, attempt, ...values]);
        } catch (error) {
          if (error instanceof DatabaseFault && error.code === lostCode) return lost;
          throw error;
        }
      }),
  };
}

/** The fences of several writes as the arrays that the server's functions take first. */
export function fenceValues(fences: readonly Fence[]): readonly [unknown[], unknown[], unknown[], unknown[]] {
  return [
    fences.map(({ epoch }) => epoch),
    fences.map(({ queue }) => queue),
    fences.map(({ job }) => job),
    fences.map(({ attempt }) => attempt),
  ];
}
