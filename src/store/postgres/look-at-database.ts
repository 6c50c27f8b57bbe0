import { OperatorError } from '../../core/errors.ts';
import { raceTimeout } from '../../lib/async/deadline.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { StoreLook } from '../look-at-store.ts';
import type { Database } from './open-database.ts';
import { explained, reach } from './open-postgres-store.ts';
import { requireSessions } from './require-sessions.ts';
import { postgresSchema, postgresVersion } from './schema.ts';

/** Looks at a database. One that does not answer in time is unusable. */
export async function lookAtDatabase(url: string, namespace: string, withinMs: number): Promise<StoreLook> {
  const opened: { database?: Database } = {};
  let found: StoreLook = { state: 'unusable', why: 'The database of [store] url does not answer' };
  try {
    const database = (opened.database = reach(url, silent));
    const looking = look(database, namespace).then((seen) => {
      found = seen;
    });
    await raceTimeout(systemClock, looking, withinMs);
    return found;
  } catch (error) {
    const told = explained(error);
    if (!(told instanceof OperatorError)) throw error;
    return { state: 'unusable', why: told.message };
  } finally {
    // Not awaited, because a database that hangs would delay closing, too.
    void opened.database?.close().catch(() => undefined);
  }
}

async function look(database: Database, namespace: string): Promise<StoreLook> {
  await requireSessions(database);
  const version = await postgresVersion(database, postgresSchema);
  if (version === undefined) return { state: 'absent' };
  const { rows } = await database.query<Readonly<{ key: string }>>(
    'SELECT key FROM skillet.keyed WHERE namespace = $1',
    [namespace],
  );
  return { state: version < postgresSchema.length ? 'older' : 'ready', keys: rows.map(({ key }) => key) };
}

const nothing = (): void => undefined;
const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
