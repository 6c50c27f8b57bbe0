import { OperatorError } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createFiles } from '../postgres/create-files.ts';
import { createLeases } from '../postgres/lease.ts';
import { type Database, type Query } from '../postgres/open-database.ts';
import { explained, openPostgresStore, reach } from '../postgres/open-postgres-store.ts';
import { requireSessions } from '../postgres/require-sessions.ts';
import { postgresSchema, postgresVersion } from '../postgres/schema.ts';
import { postgresWords } from '../postgres/search-said.ts';
import type { StoredFiles } from '../stored-files.ts';
import { indexColumns, movedTables, wordsOf } from './moved-tables.ts';
import {
  rowsAtOnce,
  type MovedRow,
  type MovedTable,
  type MoveTarget,
  type MoveWriter,
  type MovingStore,
} from './move-rows.ts';

/** Milliseconds for one statement of a move. No statement takes that long, and none waits forever. */
const longestMs = 600_000;

type Reading = Readonly<{ store: MovingStore; files: StoredFiles }>;

/** Reads a database that no bot uses, while nobody can write to it. Throws OperatorError. */
export function readDatabase<T>(url: string, log: Log, work: (from: Reading) => Promise<T>): Promise<T> {
  return withDatabase(url, { log, named: '[store] url' }, async (database) => {
    const version = await postgresVersion(database, postgresSchema);
    if (version === undefined)
      throw new OperatorError('The database of [store] url holds no store, so there is nothing to move.');
    if (version !== postgresSchema.length)
      throw new OperatorError(
        `The database of [store] url is from ${version < postgresSchema.length ? 'an older Skillet. Start this one on it once, so that it is brought up to date, then move it.' : 'a newer Skillet. Move it with that one.'}`,
      );
    await refuseInUse(database);
    return inTransaction(database, 'SHARE', async (query) => {
      const files = createFiles({
        database: { query },
        leases: createLeases(() => undefined),
        clock: systemClock,
      });
      return work({ store: await sideOf(query), files });
    });
  });
}

/**
 * Fills a database that has no store or an empty one, in one transaction, so that an interrupted move leaves nothing
 * behind. Throws OperatorError.
 */
export async function fillDatabase<T>(
  url: string,
  log: Log,
  work: (to: MoveTarget) => Promise<T>,
): Promise<T> {
  return withDatabase(url, { log, named: '--to' }, async (database) => {
    if ((await postgresVersion(database, postgresSchema)) !== undefined) {
      await refuseInUse(database);
      await refuseFilled(database.query);
    }
    // Opening a store makes its tables.
    await (await openPostgresStore(url, { clock: systemClock, log })).close();
    return inTransaction(database, 'ACCESS EXCLUSIVE', async (query) => {
      await refuseFilled(query);
      return work({ ...(await sideOf(query)), ...(await writingTo(query)) });
    });
  });
}

/** Works with a database and closes it. `named` says in errors where its address was written. */
async function withDatabase<T>(
  url: string,
  { log, named }: Readonly<{ log: Log; named: string }>,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const opened: { database?: Database } = {};
  try {
    const database = (opened.database = reach(url, log));
    await requireSessions(database);
    return await work(database);
  } catch (error) {
    const told = explained(error);
    if (!(told instanceof OperatorError)) throw told;
    throw new OperatorError(told.message.replaceAll('[store] url', named), { cause: told.cause });
  } finally {
    await opened.database?.close();
  }
}

/** Works in a transaction that takes `lock` on every table that is moved. */
function inTransaction<T>(
  { transaction }: Database,
  lock: 'SHARE' | 'ACCESS EXCLUSIVE',
  work: (query: Query) => Promise<T>,
): Promise<T> {
  return transaction({ outlives: 'disk', withinMs: longestMs }, async (query) => {
    await query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await query('SET LOCAL idle_in_transaction_session_timeout = 0');
    const tables = movedTables().map(({ name }) => `skillet.${name}`);
    await query(`LOCK TABLE ${[...tables, 'skillet.folders'].join(', ')} IN ${lock} MODE`);
    // Explains errors of the database here, because the caller may also write a file, whose errors have their own
    // words.
    return work(async (text, values) => {
      try {
        return await query(text, values);
      } catch (error) {
        throw explained(error);
      }
    });
  });
}

/** Throws OperatorError if a process uses the database. Each holds a lock on its number while it is connected. */
async function refuseInUse({ query }: Database): Promise<void> {
  const { rows } = await query<Readonly<{ host: string; pid: number }>>(
    'SELECT host, pid FROM skillet.running WHERE NOT pg_try_advisory_xact_lock(id) ORDER BY host, pid',
  );
  if (rows.length === 0) return;
  const names = rows.map(({ host, pid }) => `process ${pid} on ${host}`);
  throw new OperatorError(
    `The database of [store] url is in use by ${names.join(', ')}. Stop every bot on it first.`,
  );
}

async function refuseFilled(query: Query): Promise<void> {
  for (const name of [...movedTables().map((table) => table.name), 'folders']) {
    const { rows } = await query(`SELECT 1 FROM skillet.${name} LIMIT 1`);
    if (rows.length > 0)
      throw new OperatorError(
        `The database of [store] url is not empty: there are ${name} in it. Name another database. If nobody needs what is ` +
          'in this one, empty it with DROP SCHEMA skillet CASCADE; DROP SCHEMA skillet_jobs CASCADE; and run this again.',
      );
  }
}

async function sideOf(query: Query): Promise<MovingStore> {
  return {
    tables: movedTables(),
    async *read({ name, columns }) {
      const cursor = `moved_${name}`;
      const order = columns.includes('seq') ? ' ORDER BY seq' : '';
      await query(`DECLARE ${cursor} CURSOR FOR SELECT ${columns.join(', ')} FROM skillet.${name}${order}`);
      for (;;) {
        const { rows } = await query<Readonly<Record<string, unknown>>>(`FETCH ${rowsAtOnce} FROM ${cursor}`);
        if (rows.length > 0) yield rows.map(toRow);
        if (rows.length < rowsAtOnce) break;
      }
      await query(`CLOSE ${cursor}`);
    },
    async lastNumber({ name, columns }) {
      if (!columns.includes('seq')) return 0;
      const { rows } = await query<Readonly<{ last: number }>>(
        `SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM skillet.${name}_seq_seq`,
      );
      return rows[0]?.last ?? 0;
    },
  };
}

/** True and false become numbers, as SQLite has them. */
function toRow(row: Readonly<Record<string, unknown>>): MovedRow {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      typeof value === 'boolean' ? Number(value) : (value as string | number | null),
    ]),
  );
}

async function writingTo(query: Query): Promise<MoveWriter> {
  const { rows } = await query<Readonly<{ table: string; column: string; type: string }>>(
    `SELECT table_name AS table, column_name AS column, udt_name AS type FROM information_schema.columns
     WHERE table_schema = 'skillet'`,
  );
  const types = new Map(rows.map(({ table, column, type }) => [`${table}.${column}`, type]));

  function columnOf(
    { name }: MovedTable,
    column: string,
  ): Readonly<{ type: string; of(row: MovedRow): unknown }> {
    const type = types.get(`${name}.${column}`);
    if (type === undefined) throw new Error(`PostgreSQL has no column ${column} in ${name}`);
    if (type === 'bool') return { type, of: (row) => row[column] === 1 };
    return { type, of: (row) => row[column] };
  }

  return {
    async add(table, added) {
      const { name, columns } = table;
      const found = columns.map((column) => columnOf(table, column));
      const indexed = indexColumns[name] ?? [];
      const arrays = [...found.map(({ type }) => `${type}[]`), ...indexed.map(() => 'text[]')];
      const given = arrays.map((type, n) => `$${n + 1}::${type}`);
      const made = [
        ...columns,
        ...indexed.map((column) => `array_to_tsvector(string_to_array(${column}, ' '))`),
      ];
      const all = [...columns, ...indexed];
      await query(
        `INSERT INTO skillet.${name} (${all.join(', ')})
         SELECT ${made.join(', ')} FROM unnest(${given.join(', ')}) AS moved (${all.join(', ')})`,
        [
          ...found.map(({ of }) => added.map(of)),
          ...indexed.map(() => added.map((row) => wordsOf(row, postgresWords))),
        ],
      );
    },
    async setLastNumber({ name }, last) {
      if (last > 0) await query('SELECT setval($1::regclass, $2)', [`skillet.${name}_seq_seq`, last]);
    },
  };
}
