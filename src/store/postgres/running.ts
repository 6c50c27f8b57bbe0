import { hostname } from 'node:os';
import { OperatorError } from '../../core/errors.ts';
import { skilletVersion } from '../../core/version.ts';
import type { Query } from './open-database.ts';

/** A process without a sign of life for this many seconds is gone. */
const goneSeconds = 60;

/**
 * Records that this process runs; repeated, it is a sign of life. Call it first within the lock of the migration, so
 * that no removal overlooks this process (Q15).
 */
export async function noteRunning(query: Query, self: number, knows: number): Promise<void> {
  await query(
    `INSERT INTO skillet.running (id, version, knows, host, pid, seen_at) VALUES ($1, $2, $3, $4, $5, now())
     ON CONFLICT (id) DO UPDATE SET seen_at = now()`,
    [self, skilletVersion(), knows, hostname(), process.pid],
  );
}

export async function noteStopped(query: Query, self: number): Promise<void> {
  await query(`DELETE FROM skillet.running WHERE id = $1 OR seen_at < now() - interval '1 day'`, [self]);
}

type Running = Readonly<{ version: string; host: string; pid: number; seconds: number }>;

/** Throws OperatorError with the names of processes that know fewer than `readableFrom` schema steps. */
export async function refuseWhileOlderRun(query: Query, step: number, readableFrom: number): Promise<void> {
  const { rows } = await query<Running>(
    `SELECT version, host, pid, extract(epoch FROM now() - seen_at)::int AS seconds FROM skillet.running
     WHERE knows < $1 AND seen_at > now() - interval '${goneSeconds} seconds' ORDER BY host, pid`,
    [readableFrom],
  );
  if (rows.length === 0) return;
  const names = rows.map(
    ({ version, host, pid, seconds }) =>
      `Skillet ${version} on ${host} (process ${pid}, seen ${seconds} s ago)`,
  );
  throw new OperatorError(
    `Step ${step} of the schema removes what older processes still use: ${names.join(', ')}. Update or stop them, ` +
      `then start this one again. A killed process counts for ${goneSeconds} seconds.`,
  );
}
