import {
  callOf,
  type SqlAnswer,
  type SqlCall,
  type Script,
  type Sql,
  type SqlValue,
  type Steps,
} from '../sql.ts';
import { createPostgresBatch } from './create-batch.ts';
import type { Leases } from './lease.ts';
import type { Database, Query } from './open-database.ts';
import { lockOf } from './job-queue-of.ts';
import { postgresSchema } from './schema.ts';
import { searchPostgres } from './search-said.ts';

export function createPostgresSql({ query, transaction }: Database, leases: Leases): Sql {
  const statement = <Row>(text: string) => {
    const numbered = withPlaces(text, (place) => `$${place}`);
    return (...values: readonly SqlValue[]): SqlCall<Row> => callOf(numbered, values);
  };
  const now = statement<Readonly<{ now: number }>>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
  );

  return {
    statement,
    read: async (call) => (await answer(query, call)).rows,
    write: (survives, script, alone = []) =>
      'text' in script && survives === 'process' && alone.length === 0
        ? runScript(query, script)
        : transaction(
            {
              outlives: survives === 'process' ? 'memory' : 'disk',
              locks: alone.map((name) => lockOf('use', name)),
            },
            (within) => runScript(within, script),
          ),
    beforeArrivals: (queue, script) =>
      transaction({ outlives: 'memory', locks: [lockOf('inbox', queue)] }, (within) =>
        runScript(within, script),
      ),
    lookup: (text, options) => createLookup(query, text, options),
    guarded<Row>(text: string) {
      const numbered = withPlaces(text, (place) => `$${place + 4}`);
      return (...values) => leases.fencedQuery<Row>(query, numbered, values.map(plain));
    },
    *now(): Steps<number> {
      return (yield* now()).rows[0]?.now ?? 0;
    },
    async isBehind() {
      const { rows } = await query<Readonly<{ version: number }>>(
        'SELECT version FROM skillet.schema_version',
      );
      return (rows[0]?.version ?? 0) > postgresSchema.length;
    },
    dialect: {
      contains: (column, text) => `position(${text} IN ${column}) > 0`,
      forUpdate: 'FOR UPDATE',
      skipLocked: 'FOR UPDATE SKIP LOCKED',
      held: '(SELECT skillet.held($1, $2, $3, $4, false))',
      search: searchPostgres,
    },
  };
}

function answer<Row>(query: Query, { text, values }: SqlCall<Row>): Promise<SqlAnswer<Row>> {
  return query<Row>(text, values);
}

export async function runScript<T>(query: Query, script: Script<T>): Promise<T> {
  const steps = script[Symbol.iterator]();
  let step = steps.next();
  while (step.done !== true)
    step = steps.next(await Promise.all(step.value.map((call) => answer(query, call))));
  return step.value;
}

function createLookup<Row>(
  query: Query,
  text: string,
  { most, order }: Readonly<{ most: number; order?: string }>,
): (...keys: readonly string[]) => Promise<readonly Row[]> {
  const width = Math.max(...Array.from(text.matchAll(/\?(\d)/g), ([, place]) => Number(place)));
  const columns = Array.from({ length: width }, (_, n) => n + 1);
  const sorted = order === undefined ? '' : ` ORDER BY ${order}`;
  const all = `SELECT asked.place, found.*
    FROM unnest(${columns.map((n) => `$${n}::text[]`).join(', ')}) WITH ORDINALITY AS asked (${columns.map((n) => `key${n}`).join(', ')}, place)
    CROSS JOIN LATERAL (${withPlaces(text, (place) => `asked.key${place}`)}${sorted}) AS found
    ORDER BY asked.place${order === undefined ? '' : `, found.${order}`}`;
  const find = createPostgresBatch<readonly string[], readonly Row[]>(async (asked) => {
    const { rows } = await query<Row & Readonly<{ place: number }>>(
      all,
      columns.map((n) => asked.map((keys) => keys[n - 1])),
    );
    const byPlace = Map.groupBy(rows, ({ place }) => place);
    return asked.map((_, n) => byPlace.get(n + 1) ?? []);
  }, most);
  return (...keys) => find(keys);
}

/** Removes NUL, which text in PostgreSQL can't hold. */
function plain(value: SqlValue): SqlValue {
  return typeof value === 'string' ? value.replaceAll('\u0000', '') : value;
}

function withPlaces(text: string, name: (place: number) => string): string {
  return text.replace(/\?(\d)/g, (_, place: string) => name(Number(place)));
}
