import type { CancelRequests } from '../pending-requests.ts';
import type { Store } from '../store.ts';
import type { Backing } from './backing.ts';
import { endItem } from './create-inbox.ts';
import { runScript } from './create-sql.ts';
import { lockOf } from './queue-of.ts';

type Keys = readonly Readonly<{ key: string }>[];

/** `stop` on PostgreSQL: marks and drops items and ends asks in one transaction (T8), holding the lanes of the items. */
export function createStop(
  { database, jobs, announce, clock }: Backing,
  cancel: CancelRequests,
): Store['stop'] {
  return async ({ items, asks = [] }) => {
    const named = await database.query<Readonly<{ lane: string }>>(
      `SELECT DISTINCT lane FROM skillet.inbox JOIN skillet.inbox_keys ON item = seq WHERE inbox_keys.key = ANY($1)`,
      [items],
    );
    const lanes = named.rows.map(({ lane }) => lane);
    if (lanes.length > 0) await jobs.prepare('inbox', lanes);
    const locks = lanes.map((lane) => lockOf('inbox', lane));
    const stopped = await database.transaction({ outlives: 'disk', locks }, async (query) => {
      const cancelled = await runScript(query, cancel(asks, clock.now()));
      const ofThese = `FROM skillet.inbox_keys WHERE item = seq AND inbox_keys.key = ANY($1) AND status = 'waiting'`;
      const dropped = await query<Keys[number]>(
        `${endItem} ${ofThese} AND taken_at IS NULL RETURNING inbox_keys.key`,
        [items, clock.now()],
      );
      const stopping = await query<Keys[number]>(
        `UPDATE skillet.inbox SET stopped_at = $2 ${ofThese} RETURNING inbox_keys.key`,
        [items, clock.now()],
      );
      // A lane may have been put off for what is dropped.
      if (dropped.rows.length > 0) for (const lane of lanes) await jobs.hasten(query, 'inbox', lane);
      return { dropped: keysOf(dropped.rows), stopping: keysOf(stopping.rows), cancelled };
    });
    if (stopped.dropped.length > 0) announce('inbox', lanes);
    return stopped;
  };
}

function keysOf(rows: Keys): readonly string[] {
  return rows.map(({ key }) => key);
}
