import { OperatorError } from '../../core/errors.ts';
import { baseTables } from './base-tables.ts';
import { capabilityTables } from './capability-tables.ts';
import { fairStart } from './fair-start.ts';
import { feedbackTable } from './feedback-table.ts';
import { fileTables } from './file-tables.ts';
import { queueFunctions } from './queue-functions.ts';
import { memoryTables } from './memory-tables.ts';
import type { Database, Query } from './open-database.ts';
import { processTables } from './process-tables.ts';
import { routineTable } from './routine-table.ts';
import { refuseWhileOlderRun } from './running.ts';

/** The oldest server version that has all features used here, such as ending idle sessions. */
const oldestServer = 140_000;

const migrating = 0x536b696c6c65n;

const migratingMs = 120_000;

/**
 * The steps of the schema, one for each version. Never edit a released step; add one. A step only adds, unless it is
 * among `removals` (Q15).
 */
export const postgresSchema: readonly string[] = [
  [
    baseTables,
    queueFunctions,
    fairStart,
    capabilityTables,
    routineTable,
    memoryTables,
    processTables,
    fileTables,
  ].join('\n'),
  feedbackTable,
];

/** Steps that remove something, with how many steps a process has to know to work without it. */
export const removals: Readonly<Record<number, number>> = {};

type Plan = Readonly<{ steps: readonly string[]; removals: Readonly<Record<number, number>> }>;

/**
 * Brings the schema up to date, each step in one transaction; `others` migrates afterwards. Only one process does it at
 * a time (Q10). A removal waits for the end of processes that can't work without it (Q15). For a foreign schema, a
 * newer one that this version can't use, or an old server it throws OperatorError and writes nothing.
 */
export async function migratePostgres(
  database: Database,
  { steps, removals }: Plan,
  others: (query: Query) => Promise<void>,
): Promise<void> {
  const alone = { outlives: 'disk', locks: [migrating], withinMs: migratingMs } as const;
  await database.transaction(alone, async (query) => {
    await query('SET LOCAL idle_in_transaction_session_timeout = 0');
    const version = (await postgresVersion(database, steps)) ?? (await create(database));
    for (const [done, step] of steps.entries()) {
      if (done < version) continue;
      const readableFrom = removals[done + 1];
      if (readableFrom !== undefined) await refuseWhileOlderRun(query, done + 1, readableFrom);
      const raised = readableFrom === undefined ? '' : `, readable_from = ${readableFrom}`;
      await database.script(
        `BEGIN; ${step}; UPDATE skillet.schema_version SET version = ${done + 1}${raised}; COMMIT`,
      );
    }
    await others(query);
  });
}

/** How many steps a database has; undefined if it is not a store yet. Throws as `migrate` does. */
export async function postgresVersion(
  { query }: Database,
  steps: readonly string[],
): Promise<number | undefined> {
  const [server] = (
    await query<Readonly<{ version: number; ours: boolean; preview: boolean; tables: number }>>(
      `SELECT current_setting('server_version_num')::int AS version, to_regclass('skillet.schema_version') IS NOT NULL AS ours,
        to_regclass('skillet.version') IS NOT NULL AS preview,
        (SELECT count(*) FROM pg_tables WHERE schemaname = 'skillet') AS tables`,
    )
  ).rows;
  if (server === undefined || server.version < oldestServer) {
    throw new OperatorError(
      'The database of [store] url runs on a PostgreSQL that is too old. Use version 14 or newer.',
    );
  }
  if (server.preview) {
    throw new OperatorError(
      'The database of [store] url has tables of a Skillet from before its first release, which this one can’t read. ' +
        'Write the URL of another database into [store] url, or remove the schemas "skillet" and "skillet_jobs" with all they hold.',
    );
  }
  if (!server.ours && server.tables > 0) {
    throw new OperatorError(
      'The database of [store] url has a schema "skillet" of another program. Write the URL of another database into [store] url.',
    );
  }
  if (!server.ours) return undefined;
  const { rows } = await query<Readonly<{ version: number; readableFrom: number }>>(
    'SELECT version, readable_from AS "readableFrom" FROM skillet.schema_version',
  );
  const { version = 0, readableFrom = 0 } = rows[0] ?? {};
  if (readableFrom > steps.length) {
    throw new OperatorError(
      `The database of [store] url was written by a newer Skillet: its schema has version ${version}, which needs a ` +
        `Skillet that knows ${readableFrom}. This one knows ${steps.length}. Start the newer Skillet, or give this one a database of its own.`,
    );
  }
  return version;
}

async function create({ script }: Database): Promise<number> {
  await script(`BEGIN; CREATE SCHEMA IF NOT EXISTS skillet;
    CREATE TABLE skillet.schema_version (version integer NOT NULL, readable_from integer NOT NULL);
    INSERT INTO skillet.schema_version (version, readable_from) VALUES (0, 1); COMMIT`);
  return 0;
}
