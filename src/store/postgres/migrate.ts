import { OperatorError } from '../../core/errors.ts';
import type { Database } from './open-database.ts';

/** The oldest server that has what is used here (sessions that sleep are ended). */
const oldestServer = 140_000;
/** Held while the schema is looked at and changed: processes that start together do it one after another. */
const migrating = 0x536b696c6c65n;
const migratingMs = 120_000;

/**
 * Brings the schema `skillet` to `steps.length`, each step one transaction, then lets `others` do the same for theirs; one
 * process at a time (Q10). Throws OperatorError for what a newer version wrote, for a schema that is not Skillet's and for
 * a server that is too old: nothing is written then.
 */
export async function migrate(
  database: Database,
  steps: readonly string[],
  others: () => Promise<void>,
): Promise<void> {
  const alone = { outlives: 'disk', locks: [migrating], withinMs: migratingMs } as const;
  await database.transaction(alone, async (query) => {
    await query('SET LOCAL idle_in_transaction_session_timeout = 0');
    const version = await readVersion(database);
    if (version > steps.length) {
      throw new OperatorError(
        `The database of [store] url was written by a newer Skillet: its schema has version ${version}, this one knows ` +
          `${steps.length}. Start the newer Skillet, or give this one a database of its own.`,
      );
    }
    for (const [done, step] of steps.entries()) {
      if (done >= version)
        await database.script(`BEGIN; ${step}; UPDATE skillet.version SET version = ${done + 1}; COMMIT`);
    }
    await others();
  });
}

async function readVersion({ query, script }: Database): Promise<number> {
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
  if (!server.ours) {
    await script(`BEGIN; CREATE SCHEMA IF NOT EXISTS skillet; CREATE TABLE skillet.version (version integer NOT NULL);
      INSERT INTO skillet.version (version) VALUES (0); COMMIT`);
  }
  return (
    (await query<Readonly<{ version: number }>>('SELECT version FROM skillet.version')).rows[0]?.version ?? 0
  );
}
