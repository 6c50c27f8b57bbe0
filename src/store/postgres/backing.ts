import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Kind, Leases } from './lease.ts';
import type { Database } from './open-database.ts';
import type { Jobs } from './open-jobs.ts';

/** What the parts of the store stand on. */
export type Backing = Readonly<{
  database: Database;
  jobs: Jobs;
  leases: Leases;
  /** Tells this process and the others that lanes became due (any, where none is named), or (in this process only) will be in `inMs`. */
  announce(kind: Kind, lanes?: readonly string[], inMs?: number): void;
  clock: Clock;
  log: Log;
}>;
