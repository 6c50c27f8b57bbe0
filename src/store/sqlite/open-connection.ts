import { backup, DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { once } from '../../lib/async/mutex.ts';

/**
 * What a write survives. `power`: anything, because it is on disk when the call returns. `process`: a kill; after a
 * power cut the file is consistent (Q8).
 */
export type SqliteSurvives = 'power' | 'process';

/** A prepared statement. The STRICT tables guarantee `Row`. */
export type PreparedStatement<Row = never> = Readonly<{
  get(...values: SQLInputValue[]): Row | undefined;
  all(...values: SQLInputValue[]): readonly Row[];
  run(...values: SQLInputValue[]): number;
}>;

export type SqliteConnection = Readonly<{
  /** Prepares a statement, which is compiled when it is first used, because a start needs few of them. */
  prepare<Row = never>(sql: string): PreparedStatement<Row>;
  /** Runs `work` as one transaction: all of its writes, or none if it throws. Calls can't be nested. */
  write<T>(survives: SqliteSurvives, work: () => T): T;
  exec(sql: string): void;
  /** Copies the database in steps, between which the connection can be used (Q10). */
  backup(file: string, onProgress?: (done: number, total: number) => void): Promise<void>;
  /** Moves the journal into the file, so that removed data is in neither. False if the database is busy. */
  emptyJournal(): boolean;
  close(): void;
}>;

/** Size in bytes to which a checkpoint cuts the journal. */
const largestJournal = 32_000_000;

/** Pages copied in one step, which are 1 MB. */
const backupPages = 256;

const backupTries = 500;
const backupAgainMs = 10;

/** Node 24 rejects with SQLite's code 0 ("not an error") if the first step meets a write. At later steps it waits. */
function metWrite(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 0;
}

/**
 * Opens a file or `:memory:` without changing anything yet. Database errors, such as a full disk, reach the caller
 * (Q11).
 */
export function openConnection(location: string): SqliteConnection {
  const db = new DatabaseSync(location, { timeout: 1_000 });
  // Overwrites deleted data (Q12).
  db.exec('PRAGMA secure_delete = ON');
  // Without it the journal would stay as large as one long reader made it.
  db.exec(`PRAGMA journal_size_limit = ${largestJournal}`);
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  let synced: boolean | undefined;

  function sync(full: boolean): void {
    if (full === synced) return;
    db.exec(full ? 'PRAGMA synchronous = FULL' : 'PRAGMA synchronous = NORMAL');
    synced = full;
  }

  return {
    prepare<Row>(sql: string): PreparedStatement<Row> {
      const statement = once(() => db.prepare(sql));
      return {
        get: (...values) => statement().get(...values) as Row | undefined,
        all: (...values) => statement().all(...values) as Row[],
        run: (...values) => Number(statement().run(...values).changes),
      };
    },
    write(survives, work) {
      sync(survives === 'power');
      begin.run();
      try {
        const result = work();
        commit.run();
        return result;
      } catch (error) {
        // A full disk may have rolled back the transaction already.
        if (db.isTransaction) db.exec('ROLLBACK');
        throw error;
      }
    },
    exec: (sql) => db.exec(sql),
    async backup(file, onProgress) {
      for (let tries = 1; ; tries++) {
        try {
          const pages = await backup(db, file, {
            rate: backupPages,
            progress: ({ totalPages, remainingPages }) =>
              onProgress?.(totalPages - remainingPages, totalPages),
          });
          return onProgress?.(pages, pages);
        } catch (error) {
          if (!metWrite(error) || tries === backupTries) throw error;
          await delay(backupAgainMs);
        }
      }
    },
    emptyJournal: () => db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0,
    close: () => db.close(),
  };
}
