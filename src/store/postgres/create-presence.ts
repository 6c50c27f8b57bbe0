import { randomInt } from 'node:crypto';
import type { PostgresParts } from './create-postgres-store.ts';
import type { Heartbeat } from './create-heartbeat.ts';
import type { Claim } from './lease.ts';
import { noteRunning, noteStopped } from './running.ts';
import type { Query } from './open-database.ts';
import { postgresSchema } from './schema.ts';

/** Identifies a process while its store is open. It is also the key of the advisory lock of its listening session. */
export type ProcessId = number;

/** The held claims. `queue` is for people who read the table. */
type Held = Pick<Claim, 'queue' | 'jobQueue' | 'job'>;

const lookMs = 1_000;
/**
 * Milliseconds to collect queues that are taken, which are then written together. Released ones may stay listed for a
 * second, because claims have numbers.
 */
const gatherMs = 20;
/** How many looks pass between signs of life of a process that may hold nothing. */
const signEvery = 15;

export const newProcessId = (): ProcessId => randomInt(2 ** 48 - 1);

/**
 * SQL for the session that listens. The lock ends with the process at once; the server notices a machine that vanished
 * after about five seconds. It is shared, so that a new session need not wait for the end of the old one.
 */
export const presenceOf = (self: ProcessId): string =>
  'SET tcp_keepalives_idle = 2; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3; ' +
  `SELECT pg_advisory_lock_shared(${self})`;

const noteHeld = `INSERT INTO skillet.processes (id, held, seen_at) VALUES ($1, $2, now())
  ON CONFLICT (id) DO UPDATE SET held = excluded.held, seen_at = excluded.seen_at`;

/**
 * Finds processes that are gone. Both signs of life have to be missing for this long, so that a session that reconnects
 * loses nothing.
 */
const gone = `SELECT id, held FROM skillet.processes
  WHERE id <> $1 AND seen_at < now() - interval '2 seconds'
    AND pg_postmaster_start_time() < now() - interval '10 seconds' AND pg_try_advisory_xact_lock(id)`;

/**
 * Frees the queues of a killed process within about three seconds. Queues that it had not written down yet, and those
 * of a process that hangs, become free when their heartbeat ends (Q9).
 */
export function createPresence(
  { database, announce, log, self }: PostgresParts,
  heartbeat: Heartbeat,
): Readonly<{ close(): Promise<void> }> {
  const state: {
    isEmpty: boolean;
    writing?: NodeJS.Timeout;
    closed: boolean;
    busy: Promise<void>;
    looks: number;
  } = {
    isEmpty: true,
    looks: 0,
    closed: false,
    busy: Promise.resolve(),
  };
  const timer = setInterval(() => run(look), lookMs).unref();
  heartbeat.onTaken(() => {
    if (!state.closed) state.writing ??= setTimeout(() => run(write), gatherMs).unref();
  });

  /** Runs work one after another. */
  function run(work: () => Promise<void>): void {
    state.busy = state.busy.then(work).catch((error: unknown) => {
      log.debug({ err: error }, 'the other processes could not be looked at; trying again');
    });
  }

  async function write(): Promise<void> {
    delete state.writing;
    const held = heartbeat.held().map(({ queue, jobQueue, job }) => ({ queue, jobQueue, job }));
    if (state.closed || (state.isEmpty && held.length === 0)) return;
    await database.query(noteHeld, [self, JSON.stringify(held)]);
    state.isEmpty = held.length === 0;
  }

  async function look(): Promise<void> {
    await write();
    if (state.closed) return;
    if (++state.looks % signEvery === 0) await noteRunning(database.query, self, postgresSchema.length);
    const { rows } = await database.query<Readonly<{ id: ProcessId; held: readonly Held[] }>>(gone, [self]);
    for (const { id, held } of rows) {
      const queues = await release(database.query, id, held);
      if (queues === 0) continue;
      log.info({ queues }, 'another process is gone: its queues are available again');
      announce('inbox');
      announce('outbox');
    }
  }

  return {
    async close() {
      state.closed = true;
      clearInterval(timer);
      clearTimeout(state.writing);
      await state.busy;
      await noteStopped(database.query, self).catch(() => undefined);
    },
  };
}

/** Frees only these claims. Their jobs keep their age, so that what waited longest goes first. Returns how many were freed. */
async function release(query: Query, id: ProcessId, held: readonly Held[]): Promise<number> {
  const { rows } = await query<Readonly<{ name: string }>>(
    `UPDATE skillet_jobs.job_common AS job SET state = 'retry', start_after = now(), heartbeat_on = NULL
     FROM unnest($1::text[], $2::uuid[], $3::integer[]) AS held (job_queue, id, attempt)
     WHERE job.name = held.job_queue AND job.id = held.id AND job.state = 'active' AND job.retry_count = held.attempt
     RETURNING job.name`,
    [
      held.map(({ jobQueue }) => jobQueue),
      held.map(({ job }) => job.id),
      held.map(({ job }) => job.retryCount),
    ],
  );
  await query('DELETE FROM skillet.processes WHERE id = $1', [id]);
  return rows.length;
}
