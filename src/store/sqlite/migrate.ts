import { OperatorError } from '../../core/errors.ts';
import type { SqliteConnection } from './open-connection.ts';

/** "Sklt" in the header of the file. Databases of other programs are never written. */
const applicationId = 0x536b6c74;
/** "Skil", which versions before the first release wrote. Their tables differ. */
const previewId = 0x536b696c;

/**
 * Applies all missing steps in one transaction, and switches to WAL (Q10). For a newer or foreign database it throws
 * OperatorError and writes nothing.
 */
export function migrateSqlite(connection: SqliteConnection, steps: readonly string[], file: string): void {
  const version = sqliteVersion(connection, steps, file);
  // Checkpoints after 16 MB instead of 4, because each one syncs twice.
  connection.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 4000');
  if (version === steps.length) return;
  connection.write('power', () => {
    connection.exec(`PRAGMA application_id = ${applicationId}`);
    for (const [done, step] of steps.entries())
      if (done >= version) connection.exec(`${step}; PRAGMA user_version = ${done + 1};`);
  });
}

/** A database, as far as it is read here. */
type Readable = Readonly<{ prepare(sql: string): Readonly<{ get(): unknown }> }>;

/** How many steps a file has. Throws OperatorError for a newer or foreign one. */
export function sqliteVersion(connection: Readable, steps: readonly string[], file: string): number {
  const version = pragma(connection, 'user_version');
  const id = pragma(connection, 'application_id');
  if (id === previewId)
    throw new OperatorError(
      `${file} is from a Skillet from before its first release, which this one can't read. ` +
        'Move it away, and Skillet makes a new one, or write the path of another file into [store] url.',
    );
  if (id !== applicationId && !isEmpty(connection)) {
    throw new OperatorError(
      `${file} is a database of another program. Write the path of a new file into [store] url.`,
    );
  }
  if (version > steps.length) {
    throw new OperatorError(
      `${file} was written by a newer Skillet: its schema has version ${version}, this one knows ${steps.length}. ` +
        'Start the newer Skillet, or put a backup that this one made in its place.',
    );
  }
  return version;
}

function pragma(connection: Readable, name: 'user_version' | 'application_id'): number {
  const row = connection.prepare(`PRAGMA ${name}`).get() as Readonly<Record<string, number>> | undefined;
  return row?.[name] ?? 0;
}

function isEmpty(connection: Readable): boolean {
  return connection.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
}
