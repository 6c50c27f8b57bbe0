import { setImmediate } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import type { Connection } from './open-connection.ts';

/** Rows removed in one transaction: a few milliseconds, so that messages are accepted in between. */
const batch = 500;

/** `Store.prune` on the embedded store. */
export function createPrune(connection: Connection): (now: number) => Promise<void> {
  const oldest = (table: string, where: string) =>
    connection.prepare(
      `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${where} < ? LIMIT ${batch})`,
    );
  const stale = [
    // Takes the item's keys with it.
    { rows: oldest('inbox', `status = 'done' AND finished_at`), keptMs: bounds.doneKeptMs },
    { rows: oldest('outbox', 'finished_at'), keptMs: bounds.sentKeptMs },
    { rows: oldest('overheard', 'heard_at'), keptMs: bounds.overheardKeptMs },
    { rows: oldest('keyed', 'expires_at'), keptMs: 0 },
  ];

  return async (now) => {
    for (const { rows, keptMs } of stale) {
      while (connection.write('process', () => rows.run(now - keptMs)) === batch) await setImmediate();
    }
  };
}
