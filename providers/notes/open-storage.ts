import { mkdirSync } from 'node:fs';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

export type Row = Readonly<Record<string, string | number | null>>;

/** The provider's own file. Every process of it opens the file again, so what must not happen twice is held by keys in it. */
export type Storage = Readonly<{
  get(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all(sql: string, ...values: SQLInputValue[]): readonly Row[];
  /** Returns the number of rows changed, and the id of the last one that was added. */
  run(sql: string, ...values: SQLInputValue[]): Readonly<{ changes: number; id: number }>;
  /** All or nothing; other processes wait. A throw undoes it and is thrown on. */
  once<Result>(work: () => Result): Result;
  close(): void;
}>;

const tables = `
  CREATE TABLE IF NOT EXISTS seen_tokens (jti TEXT PRIMARY KEY, expires INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS flows (
    state TEXT PRIMARY KEY, user TEXT NOT NULL, capability TEXT NOT NULL, notebook TEXT NOT NULL,
    verifier TEXT, callback_state TEXT, device_code TEXT, expires INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS accounts (
    user TEXT NOT NULL, notebook TEXT NOT NULL, linked INTEGER NOT NULL, PRIMARY KEY (user, notebook)) STRICT;
  CREATE TABLE IF NOT EXISTS notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, notebook TEXT NOT NULL, text TEXT NOT NULL,
    changed INTEGER NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS notes_of ON notes (user, notebook, id);
  CREATE TABLE IF NOT EXISTS outcomes (
    user TEXT NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, output TEXT NOT NULL, stored INTEGER NOT NULL,
    PRIMARY KEY (user, key)) STRICT;
`;

/** Opens `notes.db` in a folder, which is made where there is none; nobody but the system user may read it (0600). */
export function openStorage(folder: string): Storage {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, 'notes.db');
  // Made before SQLite opens it: its journals take over the mode of the file.
  closeSync(openSync(file, 'a', 0o600));
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  database.exec(tables);
  return {
    get: (sql, ...values) => database.prepare(sql).get(...values) as Row | undefined,
    all: (sql, ...values) => database.prepare(sql).all(...values) as Row[],
    run(sql, ...values) {
      const { changes, lastInsertRowid } = database.prepare(sql).run(...values);
      return { changes: Number(changes), id: Number(lastInsertRowid) };
    },
    once(work) {
      database.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        database.exec('COMMIT');
        return result;
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
    close: () => database.close(),
  };
}
