import type { PostgresParts } from './create-postgres-store.ts';
import type { QueueKind } from './lease.ts';
import { lockOf } from './job-queue-of.ts';

const batch = 500;
export const waitingRows: Readonly<Record<QueueKind, string>> = {
  inbox: `inbox WHERE status = 'waiting'`,
  outbox: 'outbox WHERE finished_at IS NULL',
};
const overdue: Readonly<Record<QueueKind, string>> = {
  inbox: `inbox SET due_at = $1 WHERE status = 'waiting' AND due_at > $2`,
  outbox: 'outbox SET due_at = $1 WHERE finished_at IS NULL AND due_at > $2',
};
const kinds: readonly QueueKind[] = ['inbox', 'outbox'];
type Ground = Omit<PostgresParts, 'leases'>;

/** Gives a job to queues with work that have none, as after a restore or a manual fix. A job too many does no harm. */
export async function sweepQueues(ground: Ground): Promise<void> {
  const { database, jobs, announce } = ground;
  for (const kind of kinds) {
    const queues = await waitingQueues(ground, kind);
    for (let from = 0; from < queues.length; from += batch) {
      const offers = queues.slice(from, from + batch).map((queue) => ({ queue, inMs: 0 }));
      await database.transaction({ outlives: 'memory' }, (query) => jobs.offer(query, kind, offers));
    }
    if (queues.length > 0) announce(kind);
  }
}

/** Makes rows due that are due after `beyond`, because a clock that was ahead delayed them. */
export async function makeDueNow(ground: Ground, now: number, beyond: number): Promise<void> {
  const changed = await Promise.all(
    kinds.map((kind) =>
      ground.database.query(`UPDATE skillet.${overdue[kind]}`, [now, beyond]).then(({ changed }) => changed),
    ),
  );
  if (changed.some((rows) => rows > 0)) await hastenQueues(ground);
}

/** Makes the jobs of all waiting queues due, because they may have waited for rows that were removed. */
export async function hastenQueues(ground: Ground): Promise<void> {
  const { database, jobs, announce } = ground;
  for (const kind of kinds) {
    const queues = await waitingQueues(ground, kind);
    for (const queue of queues) {
      await database.transaction({ outlives: 'memory', locks: [lockOf(kind, queue)] }, (query) =>
        jobs.hasten(query, kind, queue),
      );
    }
    if (queues.length > 0) announce(kind);
  }
}

async function waitingQueues({ database, jobs }: Ground, kind: QueueKind): Promise<readonly string[]> {
  const { rows } = await database.query<Readonly<{ queue: string }>>(
    `SELECT queue FROM skillet.${waitingRows[kind]} GROUP BY queue ORDER BY min(seq)`,
  );
  const queues = rows.map(({ queue }) => queue);
  await jobs.prepare(kind, queues);
  return queues;
}
