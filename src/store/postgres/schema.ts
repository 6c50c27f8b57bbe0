import { OperatorError } from '../../core/errors.ts';
import { baseTables } from './base-tables.ts';
import { capabilityTables } from './capability-tables.ts';
import { fairStart } from './fair-start.ts';
import { fileTables } from './file-tables.ts';
import { acceptNew, laneFunctions } from './lane-functions.ts';
import { memoryTables, wordsWithHolder } from './memory-tables.ts';
import type { Database, Query } from './open-database.ts';
import { processTable, sharedVersions } from './process-tables.ts';
import { routineTable } from './routine-table.ts';
import { refuseWhileOlderRun } from './running.ts';

/** The oldest server version that has all features used here, such as ending idle sessions. */
const oldestServer = 140_000;

const migrating = 0x536b696c6c65n;

const migratingMs = 120_000;

/**
 * Changes no table. From this step on, rows may have kinds and fields that older processes don't know and leave alone.
 */
const newKinds = `
  -- Routines by calendar steps, whose words a routine is made of, and words of the bot that were passed on.
`;

/** Table of runs. Older processes write no rows here, so their runs are not counted (U10). */
const runsTable = `
  CREATE TABLE skillet.runs (
    id text COLLATE "C" PRIMARY KEY,
    day text NOT NULL COLLATE "C",
    sender text NOT NULL COLLATE "C",
    conversation text NOT NULL COLLATE "C",
    skill text NOT NULL COLLATE "C",
    model text NOT NULL COLLATE "C",
    steps integer NOT NULL,
    failed integer NOT NULL,
    at bigint NOT NULL
  );
  CREATE INDEX runs_day ON skillet.runs (day);
  CREATE INDEX runs_sender ON skillet.runs (sender);
`;

/**
 * The steps of the schema, one for each version. Never edit a released step; add one. A step only adds, unless it is
 * among `removals` (Q15).
 */
export const schema: readonly string[] = [
  baseTables,
  laneFunctions,
  capabilityTables,
  acceptNew(`status = 'waiting' AND taken_at IS NULL`),
  routineTable,
  memoryTables,
  processTable,
  wordsWithHolder,
  sharedVersions,
  fileTables,
  newKinds,
  runsTable,
  fairStart,
];

/** Steps that remove something, with how many steps a process has to know to work without it. */
export const removals: Readonly<Record<number, number>> = {
  // Older processes look for files in the workspace, from which they move into the store.
  10: 10,
};

type Plan = Readonly<{ steps: readonly string[]; removals: Readonly<Record<number, number>> }>;

/**
 * Brings the schema up to date, each step in one transaction; `others` migrates afterwards. Only one process does it at
 * a time (Q10). A removal waits for the end of processes that can't work without it (Q15). For a foreign schema, a
 * newer one that this version can't use, or an old server it throws OperatorError and writes nothing.
 */
export async function migrate(
  database: Database,
  { steps, removals }: Plan,
  others: (query: Query) => Promise<void>,
): Promise<void> {
  const alone = { outlives: 'disk', locks: [migrating], withinMs: migratingMs } as const;
  await database.transaction(alone, async (query) => {
    await query('SET LOCAL idle_in_transaction_session_timeout = 0');
    const version = (await versionOf(database, steps)) ?? (await create(database));
    for (const [done, step] of steps.entries()) {
      if (done < version) continue;
      const readableFrom = removals[done + 1];
      if (readableFrom !== undefined) await refuseWhileOlderRun(query, done + 1, readableFrom);
      const raised = readableFrom === undefined ? '' : `, readable_from = ${readableFrom}`;
      await database.script(
        `BEGIN; ${step}; UPDATE skillet.version SET version = ${done + 1}${raised}; COMMIT`,
      );
    }
    await others(query);
  });
}

/** How many steps a database has; undefined if it is not a store yet. Throws as `migrate` does. */
export async function versionOf(
  { query }: Pick<Database, 'query'>,
  steps: readonly string[],
): Promise<number | undefined> {
  const [server] = (
    await query<Readonly<{ version: number; ours: boolean; tables: number }>>(
      `SELECT current_setting('server_version_num')::int AS version, to_regclass('skillet.version') IS NOT NULL AS ours,
        (SELECT count(*) FROM pg_tables WHERE schemaname = 'skillet') AS tables`,
    )
  ).rows;
  if (server === undefined || server.version < oldestServer) {
    throw new OperatorError(
      'The database of [store] url runs on a PostgreSQL that is too old. Use version 14 or newer.',
    );
  }
  if (!server.ours && server.tables > 0) {
    throw new OperatorError(
      'The database of [store] url has a schema "skillet" of another program. Write the URL of another database into [store] url.',
    );
  }
  if (!server.ours) return undefined;
  const { rows } = await query<Readonly<{ version: number; readableFrom: number | null }>>(
    `SELECT version, (to_jsonb(one) ->> 'readable_from')::int AS "readableFrom" FROM skillet.version AS one`,
  );
  const { version = 0, readableFrom = null } = rows[0] ?? {};
  if (version > steps.length && (readableFrom ?? version) > steps.length) {
    throw new OperatorError(
      `The database of [store] url was written by a newer Skillet: its schema has version ${version}, which needs a ` +
        `Skillet that knows ${readableFrom ?? version}. This one knows ${steps.length}. Start the newer Skillet, or give this one a database of its own.`,
    );
  }
  return version;
}

async function create({ script }: Database): Promise<number> {
  await script(`BEGIN; CREATE SCHEMA IF NOT EXISTS skillet; CREATE TABLE skillet.version (version integer NOT NULL);
    INSERT INTO skillet.version (version) VALUES (0); COMMIT`);
  return 0;
}
