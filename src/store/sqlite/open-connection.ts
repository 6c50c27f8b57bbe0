import { backup, DatabaseSync, type SQLInputValue } from 'node:sqlite';

/** `power`: on the disk when the call returns. `process`: outlives a kill of the process, and is consistent after a power cut (Q8). */
export type Survives = 'power' | 'process';

/** One SQL statement. Rows come as `Row` says: the tables are STRICT, so the database holds the column types. */
export type Statement<Row = never> = Readonly<{
  get(...values: SQLInputValue[]): Row | undefined;
  all(...values: SQLInputValue[]): readonly Row[];
  /** Gives the number of rows changed. */
  run(...values: SQLInputValue[]): number;
}>;

export type Connection = Readonly<{
  prepare<Row = never>(sql: string): Statement<Row>;
  /** Runs `work` as one transaction: all of its writes, or none when it throws. Not to be nested. */
  write<T>(survives: Survives, work: () => T): T;
  /** For schema changes: several statements, no values. */
  exec(sql: string): void;
  /** Writes a consistent copy to a new file, in steps between which the connection can be used (Q10). */
  backup(file: string, onProgress?: (done: number, total: number) => void): Promise<void>;
  /** Moves the journal's pages into the file and leaves it empty: what was removed is in neither. False while that can't be done. */
  emptyJournal(): boolean;
  close(): void;
}>;

/** Pages copied in one step, during which the connection waits: 1 MB. */
const backupPages = 256;

/** Opens a SQLite file (or `:memory:`) and changes nothing in it yet. Errors of the database, a full disk included, are thrown to the caller (Q11). */
export function openConnection(location: string): Connection {
  const db = new DatabaseSync(location, { timeout: 1_000 });
  // What is deleted is overwritten: what a person had removed can't be read out of the file (Q12).
  db.exec('PRAGMA secure_delete = ON');
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  let synced: boolean | undefined;

  function sync(full: boolean): void {
    if (full === synced) return;
    db.exec(full ? 'PRAGMA synchronous = FULL' : 'PRAGMA synchronous = NORMAL');
    synced = full;
  }

  return {
    prepare<Row>(sql: string): Statement<Row> {
      const statement = db.prepare(sql);
      return {
        get: (...values) => statement.get(...values) as Row | undefined,
        all: (...values) => statement.all(...values) as Row[],
        run: (...values) => Number(statement.run(...values).changes),
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
        // A full disk may have ended the transaction already.
        if (db.isTransaction) db.exec('ROLLBACK');
        throw error;
      }
    },
    exec: (sql) => db.exec(sql),
    async backup(file, onProgress) {
      const pages = await backup(db, file, {
        rate: backupPages,
        progress: ({ totalPages, remainingPages }) => onProgress?.(totalPages - remainingPages, totalPages),
      });
      onProgress?.(pages, pages);
    },
    emptyJournal: () => db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0,
    close: () => db.close(),
  };
}
