import { randomInt } from 'node:crypto';
import type { Backing } from './create-postgres-store.ts';
import type { Heartbeat } from './create-heartbeat.ts';
import type { Claim, Kind } from './lease.ts';
import { lockOf } from './queue-of.ts';

/** Names a process for as long as its store is open; also the advisory lock of its listening session. */
export type ProcessId = number;

type Held = Pick<Claim, 'lane' | 'queue' | 'job'>;

/** Emptied by the server when it recovers from a crash: every lane is lost then. */
export const processTable = `CREATE UNLOGGED TABLE skillet.processes (
  id bigint PRIMARY KEY,
  held jsonb NOT NULL,
  seen_at timestamptz NOT NULL
);`;

const lookMs = 1_000;
/** Lanes that are taken close together are written down as one. Those let go may stay a second: claims have numbers. */
const gatherMs = 20;

export const newProcessId = (): ProcessId => randomInt(2 ** 48 - 1);

/**
 * Run in the session that listens. The lock ends with the process, at once; a machine that vanished is noticed by the
 * server after some five seconds. Shared, so that a new session need not wait for the end of the old one.
 */
export const presenceOf = (self: ProcessId): string =>
  'SET tcp_keepalives_idle = 2; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3; ' +
  `SELECT pg_advisory_lock_shared(${self})`;

/** Both signs must be gone, and for so long, that a session that connects again loses nothing. */
const gone = `SELECT id, held FROM skillet.processes
  WHERE id <> $1 AND seen_at < now() - interval '2 seconds'
    AND pg_postmaster_start_time() < now() - interval '10 seconds' AND pg_try_advisory_xact_lock(id)`;

/**
 * Frees lanes of a killed process within some three seconds. Lanes that it had not written down yet, and those of a
 * process that hangs, are free when their heartbeat ends (Q9).
 */
export function createPresence(
  { database, jobs, announce, log, self }: Backing,
  heartbeat: Pick<Heartbeat, 'held' | 'onTaken'>,
): Readonly<{ close(): Promise<void> }> {
  const state: { isEmpty: boolean; writing?: NodeJS.Timeout; closed: boolean; busy: Promise<void> } = {
    isEmpty: true,
    closed: false,
    busy: Promise.resolve(),
  };
  const timer = setInterval(() => run(look), lookMs).unref();
  heartbeat.onTaken(() => {
    if (!state.closed) state.writing ??= setTimeout(() => run(write), gatherMs).unref();
  });

  /** One after another. */
  function run(work: () => Promise<void>): void {
    state.busy = state.busy.then(work).catch((error: unknown) => {
      log.debug({ err: error }, 'the other processes could not be looked at; trying again');
    });
  }

  async function write(): Promise<void> {
    delete state.writing;
    const held = heartbeat.held().map(({ lane, queue, job }) => ({ lane, queue, job }));
    if (state.closed || (state.isEmpty && held.length === 0)) return;
    await database.query(
      `INSERT INTO skillet.processes (id, held, seen_at) VALUES ($1, $2, now())
       ON CONFLICT (id) DO UPDATE SET held = excluded.held, seen_at = excluded.seen_at`,
      [self, JSON.stringify(held)],
    );
    state.isEmpty = held.length === 0;
  }

  async function look(): Promise<void> {
    await write();
    if (state.closed) return;
    const { rows } = await database.query<Readonly<{ id: ProcessId; held: readonly Held[] }>>(gone, [self]);
    for (const { id, held } of rows) await release(id, held);
  }

  async function release(id: ProcessId, held: readonly Held[]): Promise<void> {
    const freed = new Set<Kind>();
    for (const claim of held) if (await free(claim)) freed.add(kindOf(claim));
    await database.query('DELETE FROM skillet.processes WHERE id = $1', [id]);
    if (freed.size > 0)
      log.info({ lanes: held.length }, 'another process is gone: its lanes are given out again');
    for (const kind of freed) announce(kind);
  }

  /** Only this very claim: false if the lane has another holder by now. */
  async function free(claim: Held): Promise<boolean> {
    const kind = kindOf(claim);
    const { lane, queue, job } = claim;
    await jobs.prepare(kind, [lane]);
    return database.transaction({ outlives: 'memory', locks: [lockOf(kind, lane)] }, async (query) => {
      const { changed } = await query(
        `DELETE FROM skillet_jobs.job_common WHERE name = $1 AND id = $2 AND state = 'active' AND retry_count = $3`,
        [queue, job.id, job.retryCount],
      );
      if (changed > 0) await jobs.offer(query, kind, [{ lane, inMs: 0 }]);
      return changed > 0;
    });
  }

  return {
    async close() {
      state.closed = true;
      clearInterval(timer);
      clearTimeout(state.writing);
      await state.busy;
    },
  };
}

function kindOf({ queue }: Held): Kind {
  return queue.startsWith('inbox/') ? 'inbox' : 'outbox';
}
