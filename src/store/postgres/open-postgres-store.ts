import type { Clock } from '../../lib/clock.ts';
import { OperatorError } from '../../core/errors.ts';
import type { Log } from '../../lib/log.ts';
import { storeFault } from '../store-fault.ts';
import type { Store } from '../store.ts';
import { createEpoch } from './create-epoch.ts';
import { createPostgresStore } from './create-postgres-store.ts';
import { createAnnouncer, createNotifyBus } from './create-notify-bus.ts';
import { newProcessId, presenceOf } from './create-presence.ts';
import { DatabaseFault, openDatabase, type Database } from './open-database.ts';
import { createLeases } from './lease.ts';
import { requireSessions } from './require-sessions.ts';
import { noteRunning } from './running.ts';
import { migratePostgres, removals, postgresSchema } from './schema.ts';
import { openJobs, type Jobs } from './open-jobs.ts';
import { makeDueNow, sweepQueues } from './sweep-queues.ts';

/** Anything that is due later than this was written by a clock that was ahead. */
const longestWaitMs = 3_600_000;
const longestPauseMs = 30_000;

/**
 * Opens the store and migrates the schemas `skillet` (ours) and `skillet_jobs` (pg-boss) (Q10). Throws OperatorError
 * without address or password (S3). With `until`, it waits for an unreachable server until that is aborted.
 */
export async function openPostgresStore(
  url: string,
  { clock, log, until }: Readonly<{ clock: Clock; log: Log; until?: AbortSignal }>,
): Promise<Store> {
  for (let pauseMs = 1_000; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await openOnce(url, clock, log);
    } catch (error) {
      const isAway = error instanceof DatabaseFault && storeFault(error) !== undefined;
      if (!isAway || until === undefined || until.aborted) throw explained(error);
      log.warn({ err: error, waitMs: pauseMs }, 'the database of [store] url is away; trying again');
      await pause(clock, pauseMs, until);
    }
  }
}

/** Waits. The timer keeps the process alive, which nothing else does at this point. */
async function pause(clock: Clock, ms: number, until: AbortSignal): Promise<void> {
  const alive = setInterval(() => undefined, 60_000);
  try {
    await clock.sleep(ms, until);
  } finally {
    clearInterval(alive);
  }
}

async function openOnce(url: string, clock: Clock, log: Log): Promise<Store> {
  const database = reach(url, log);
  const epoch = createEpoch(database);
  const opened: { jobs?: Jobs; store?: Store } = {};
  try {
    await requireSessions(database);
    const self = newProcessId();
    await migratePostgres(database, { steps: postgresSchema, removals }, async (query) => {
      opened.jobs = await openJobs(database, epoch, log);
      await noteRunning(query, self, postgresSchema.length);
    });
    if (opened.jobs === undefined) throw new Error('The job engine was not started');
    const wire = createNotifyBus(database, log, presenceOf(self));
    wire.onReturn(epoch.forget);
    const announcer = createAnnouncer(wire, log);
    const backing = {
      database,
      jobs: opened.jobs,
      leases: createLeases(epoch.forget),
      announce: announcer.announce,
      self,
      clock,
      log,
    };
    const store = (opened.store = createPostgresStore(backing, wire, announcer));
    const now = clock.now();
    await makeDueNow(backing, now, now + longestWaitMs);
    await sweepQueues(backing);
    return store;
  } catch (error) {
    // A store closes its jobs and database itself.
    if (opened.store !== undefined) await opened.store.close();
    else {
      await opened.jobs?.close();
      await database.close();
    }
    throw error;
  }
}

export function reach(url: string, log: Log): Database {
  try {
    return openDatabase(url, log);
  } catch {
    // The parser's message may quote the URL.
    throw new OperatorError(
      'The url under [store] can’t be read as the address of a database. Write url = "postgres://USER:PASSWORD@HOST/DATABASE", ' +
        'special characters in the password as %XX.',
    );
  }
}

/** Explains a failure to the operator. It quotes the database only if the message names neither user nor host. */
export function explained(error: unknown): unknown {
  if (!(error instanceof DatabaseFault)) return error;
  return new OperatorError(`The database of [store] url can’t be used: ${hintOf(error)}`);
}

function hintOf({ code, connected, message }: DatabaseFault): string {
  switch (code) {
    case '28P01':
    case '28000':
      return 'it refused the user or the password. Correct them in the URL.';
    case '3D000':
      return 'there is no such database. Create it, or correct its name in the URL.';
    case '42501':
      return 'the user may not create what is needed there. Run GRANT CREATE ON DATABASE for that user.';
    case '25006':
      return 'it is a standby, which can’t be written to. Write the address of the primary server into the URL, or promote this one.';
    case '53300':
      return 'it has no connection left. Raise max_connections there.';
    default:
      return connected
        ? `${message}. See the server’s log.`
        : `${message}. Check that the server runs and that host and port in the URL are right.`;
  }
}
