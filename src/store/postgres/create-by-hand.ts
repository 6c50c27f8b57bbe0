import type { ByOperator } from '../sql.ts';
import type { PostgresParts } from './create-postgres-store.ts';
import { runScript } from './create-sql.ts';
import type { QueueKind } from './lease.ts';
import type { Query } from './open-database.ts';
import { lockOf } from './job-queue-of.ts';

/**
 * Makes changes by hand, under the locks of the items' queues. If something changed, the jobs of those queues become
 * due.
 */
export function createByHand({ database, jobs, announce }: PostgresParts, kind: QueueKind): ByOperator {
  return async (keys, survives, script, changed) => {
    const queues = await queuesOf(database.query, kind, keys);
    await jobs.prepare(kind, queues);
    const outlives = survives === 'process' ? 'memory' : 'disk';
    const locks = queues.map((queue) => lockOf(kind, queue));
    const result = await database.transaction({ outlives, locks }, async (query) => {
      const result = await runScript(query, script);
      if (changed(result)) for (const queue of queues) await jobs.hasten(query, kind, queue);
      return result;
    });
    if (changed(result)) announce(kind, queues);
    return result;
  };
}

export async function queuesOf(
  query: Query,
  kind: QueueKind,
  keys: readonly string[],
): Promise<readonly string[]> {
  const found = {
    inbox: `seq = ANY(ARRAY(SELECT item FROM inbox_keys WHERE key = ANY($1)))`,
    outbox: 'key = ANY($1)',
  };
  const { rows } = await query<Readonly<{ queue: string }>>(
    `SELECT DISTINCT queue FROM ${kind} WHERE ${found[kind]}`,
    [keys],
  );
  return rows.map(({ queue }) => queue);
}
