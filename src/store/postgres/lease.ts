import { AsyncLocalStorage } from 'node:async_hooks';
import type { Answer } from '../sql.ts';
import { DatabaseFault, type Query } from './open-database.ts';

export type Kind = 'inbox' | 'outbox';

export type Claim = Readonly<{
  lane: string;
  queue: string;
  /** `retryCount` names this claim of the job. */
  job: Readonly<{ id: string; retryCount: number }>;
  /** Names the stretch of the server's life in which nothing was forgotten (`skillet.epoch`). */
  epoch: string;
}>;

/** After this silence another process gets the lane. pg-boss needs at least 10. */
export const heartbeatSeconds = 10;
/** The holder gives up a little earlier than the server. */
export const trustedMs = heartbeatSeconds * 1_000 - 1_000;

export type Lease = Readonly<{
  claim: Claim;
  /** Another process may have the lane. */
  lost: AbortSignal;
  /** Says that it was lost; nothing once it was released. */
  lose(): void;
  state(): 'held' | 'lost' | 'released';
  /** Later writes of the lane are not fenced. */
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

/** The claim of the lane that writes; nulls outside a lane. */
export type Fence = Readonly<{
  epoch: string | null;
  queue: string | null;
  job: string | null;
  attempt: number | null;
}>;

export const lost = Symbol('lost');

/** Knows for which lane code runs, so a write is refused once its lane was lost (Q9). */
export type Leases = Readonly<{
  under<T>(lease: Lease, work: () => Promise<T>): Promise<T>;
  active(): boolean;
  /** Writes only while this call's lane is held. Rejects if it was lost, or if the answer came so late that it may be. */
  fenced<T>(write: (fence: Fence) => Promise<T | typeof lost>): Promise<T>;
  /** The first four values, added here, go to `skillet.held`. */
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

export function fenceValues(fences: readonly Fence[]): readonly [unknown[], unknown[], unknown[], unknown[]] {
  return [
    fences.map(({ epoch }) => epoch),
    fences.map(({ queue }) => queue),
    fences.map(({ job }) => job),
    fences.map(({ attempt }) => attempt),
  ];
}
