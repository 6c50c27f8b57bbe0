import { OperatorError } from '../../core/errors.ts';
import type { Connection } from './open-connection.ts';

/** Marks the file as ours in its header, so that another program's database is never written to: "Skil". */
const applicationId = 0x536b696c;

/**
 * Brings the schema to `steps.length`, each step one transaction, and the file into WAL mode (Q10). Throws OperatorError
 * for a file written by a newer version and for a database that is not Skillet's: neither is written to.
 */
export function migrate(connection: Connection, steps: readonly string[], file: string): void {
  const version = pragma(connection, 'user_version');
  if (pragma(connection, 'application_id') !== applicationId && !isEmpty(connection)) {
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
  // The journal is moved into the file every 16 MB instead of every 4: each time costs two waits for the disk.
  connection.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 4000');
  for (const [done, step] of steps.entries()) {
    if (done < version) continue;
    connection.write('power', () => {
      connection.exec(
        `${step}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${done + 1};`,
      );
    });
  }
}

function pragma(connection: Connection, name: 'user_version' | 'application_id'): number {
  return connection.prepare<Readonly<Record<string, number>>>(`PRAGMA ${name}`).get()?.[name] ?? 0;
}

function isEmpty(connection: Connection): boolean {
  return connection.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
}
