import type { Backing } from './backing.ts';

const batch = 500;

/**
 * Gives a job to every lane with anything waiting that has none. No lane should ever lack one; a database that was
 * restored or mended by hand may hold some that do. A lane that gets one too many is looked at for nothing.
 */
export async function sweepLanes({ database, jobs, announce }: Omit<Backing, 'leases'>): Promise<void> {
  const waiting = {
    inbox: `inbox WHERE status = 'waiting'`,
    outbox: 'outbox WHERE finished_at IS NULL',
  } as const;
  for (const kind of ['inbox', 'outbox'] as const) {
    const { rows } = await database.query<Readonly<{ lane: string }>>(
      `SELECT lane FROM skillet.${waiting[kind]} GROUP BY lane ORDER BY min(seq)`,
    );
    for (let from = 0; from < rows.length; from += batch) {
      const lanes = rows.slice(from, from + batch).map(({ lane }) => ({ lane, inMs: 0 }));
      await jobs.prepare(
        kind,
        lanes.map(({ lane }) => lane),
      );
      await database.transaction({ outlives: 'memory' }, (query) => jobs.offer(query, kind, lanes));
    }
    if (rows.length > 0) announce(kind);
  }
}
