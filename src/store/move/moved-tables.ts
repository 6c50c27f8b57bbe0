import { DatabaseSync } from 'node:sqlite';
import type { Holder } from '../../core/memory.ts';
import { searchWords } from '../../lib/text/search-words.ts';
import { sqliteSchema } from '../sqlite/schema.ts';
import type { MovedRow, MovedTable } from './move-rows.ts';

/**
 * Tables that only one kind of store has: for its search index, its processes and its queues. Files are moved as files.
 */
export const ofSqliteAlone: ReadonlySet<string> = new Set(['said_indexed']);
export const ofPostgresAlone: ReadonlySet<string> = new Set([
  ...['limits', 'health', 'epoch', 'processes', 'running', 'schema_version'],
  ...['folders', 'files', 'chunks', 'file_chunks'],
]);

/** By table: columns of an index, which each kind of store builds in its own form. */
export const indexColumns: Readonly<Record<string, readonly string[]>> = { said: ['words'] };

/**
 * By table: columns that are not moved. Rounds have another meaning in the other store, so moved items start first
 * (Q3).
 */
export const ownColumns: Readonly<Record<string, readonly string[]>> = {
  ...indexColumns,
  inbox: ['round', 'person'],
};

/** The tables that both kinds of store have. They are read from the schema, so that a new one is moved, too. */
export function movedTables(): readonly MovedTable[] {
  using db = new DatabaseSync(':memory:');
  for (const step of sqliteSchema) db.exec(step);
  // Leaves out virtual tables and their storage, which are indexes. The order is that in which the tables were made.
  const names = db
    .prepare(
      `SELECT name FROM pragma_table_list JOIN sqlite_schema USING (name)
       WHERE pragma_table_list.type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY sqlite_schema.rowid`,
    )
    .all();
  return names
    .map(({ name }) => String(name))
    .filter((name) => !ofSqliteAlone.has(name))
    .map((name) => ({
      name,
      columns: db
        .prepare('SELECT name FROM pragma_table_info(?)')
        .all(name)
        .map((column) => String(column['name']))
        .filter((column) => ownColumns[name]?.includes(column) !== true),
    }));
}

/** The words that find a row of `said`; none for a damaged row. `make` writes them as one kind of store keeps them. */
export function wordsOf(
  { holder, said }: MovedRow,
  make: (holder: Holder, words: readonly string[]) => string,
): string {
  return make(String(holder) as Holder, searchWords(textOf(String(said))));
}

function textOf(said: string): string {
  try {
    const { text } = JSON.parse(said) as Readonly<{ text?: unknown }>;
    return typeof text === 'string' ? text : '';
  } catch {
    // A damaged row is moved as it is.
    return '';
  }
}
