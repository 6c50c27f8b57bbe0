import { DatabaseSync } from 'node:sqlite';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { makeFolders } from '../make-folders.ts';
import { lockOwner } from '../sqlite/lock-owner.ts';
import { lostJournal } from '../sqlite/lost-journal.ts';
import { openConnection } from '../sqlite/open-connection.ts';
import { migrateSqlite, sqliteVersion } from '../sqlite/migrate.ts';
import { sqliteSchema } from '../sqlite/schema.ts';
import { sqliteWords } from '../sqlite/search-said.ts';
import { refuseTaken, writeWhole } from '../write-whole.ts';
import { indexColumns, movedTables, wordsOf } from './moved-tables.ts';
import {
  rowsAtOnce,
  withoutNul,
  type MovedRow,
  type MoveTarget,
  type MoveWriter,
  type MovingStore,
} from './move-rows.ts';

/** Reads a store's file while nobody else can use it. Throws OperatorError. */
export async function readFileStore<T>(file: string, work: (store: MovingStore) => Promise<T>): Promise<T> {
  if (!existsSync(file)) throw new OperatorError(`There is no ${file}, so there is nothing to move.`);
  const lock = lockOwner(file);
  try {
    const lost = lock.isLeftBehind ? lostJournal(file) : undefined;
    if (lost !== undefined)
      throw new OperatorError(
        `${file} is damaged: ${lost.why}. Start the bot on it first: it says what is left.`,
      );
    using db = new DatabaseSync(file, { readOnly: true });
    const version = sqliteVersion(db, sqliteSchema, file);
    if (version < sqliteSchema.length)
      throw new OperatorError(
        `${file} is from an older Skillet. Start this one on it once, so that it is brought up to date, then move it.`,
      );
    db.exec('BEGIN');
    return await work(sideOf(db));
  } catch (error) {
    if (!(error instanceof Error && 'errcode' in error)) throw error;
    throw new OperatorError(`${file} can't be read: ${error.message}.`, { cause: error });
  } finally {
    lock.undo();
  }
}

/** Fills a new file, which gets its name once it is complete. Throws OperatorError. */
export async function fillFileStore<T>(file: string, work: (store: MoveTarget) => Promise<T>): Promise<T> {
  refuseTaken(file);
  makeFolders(path.dirname(file), 0o700);
  const filled: T[] = [];
  await writeWhole(file, async (part) => {
    makeTables(part);
    using db = new DatabaseSync(part);
    db.exec('PRAGMA synchronous = FULL; BEGIN');
    filled.push(await work({ ...sideOf(db), ...writingTo(db) }));
    db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  });
  return filled[0] as T;
}

function makeTables(file: string): void {
  const connection = openConnection(file);
  try {
    migrateSqlite(connection, sqliteSchema, file);
  } finally {
    connection.close();
  }
}

function writingTo(db: DatabaseSync): MoveWriter {
  return {
    async add({ name, columns }, rows) {
      const indexed = indexColumns[name] ?? [];
      const places = [...columns, ...indexed].map(() => '?');
      const insert = db.prepare(
        `INSERT INTO ${name} (${[...columns, ...indexed].join(', ')}) VALUES (${places.join(', ')})`,
      );
      for (const row of rows)
        insert.run(
          ...columns.map((column) => row[column] ?? null),
          ...indexed.map(() => wordsOf(row, sqliteWords)),
        );
    },
    async setLastNumber({ name }, last) {
      db.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(name);
      if (last > 0) db.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(name, last);
    },
  };
}

/** Files that a killed move left beside a file. */
export function leftBeside(file: string): readonly string[] {
  const [folder, name] = [path.dirname(file), path.basename(file)];
  const left = existsSync(folder) ? readdirSync(folder) : [];
  return left
    .filter((one) => one.startsWith(`${name}.`) && /\.[0-9a-f]{8}\.part$/.test(one))
    .map((one) => path.join(folder, one));
}

function sideOf(db: DatabaseSync): MovingStore {
  return {
    tables: movedTables(),
    async *read({ name, columns }) {
      const order = columns.includes('seq') ? ' ORDER BY seq' : '';
      let rows: MovedRow[] = [];
      for (const row of db.prepare(`SELECT ${columns.join(', ')} FROM ${name}${order}`).iterate()) {
        rows.push(
          Object.fromEntries(
            columns.map((column) => [column, withoutNul(row[column] as string | number | null)]),
          ),
        );
        if (rows.length < rowsAtOnce) continue;
        yield rows;
        rows = [];
      }
      if (rows.length > 0) yield rows;
    },
    async lastNumber({ name }) {
      const row = db.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').get(name);
      return Number(row?.['seq'] ?? 0);
    },
  };
}
