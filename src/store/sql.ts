import type { Holder } from '../core/memory.ts';

export type SqlValue = string | number | null;

export type SqlAnswer<Row> = Readonly<{
  rows: readonly Row[];
  /** How many rows the statement wrote, or returned if it returns rows. */
  changed: number;
}>;

/** Steps of a transaction. Each `yield*` of a call returns its answer: at once from SQLite, later from PostgreSQL. */
export type Script<T> = Readonly<{
  [Symbol.iterator](): Iterator<readonly SqlCall<unknown>[], T, readonly SqlAnswer<unknown>[]>;
}>;

/** One statement with its values, which is also a script of one step. */
export type SqlCall<Row = never> = Script<SqlAnswer<Row>> &
  Readonly<{ text: string; values: readonly SqlValue[] }>;

export type SqlStatement<Row = never> = (...values: readonly SqlValue[]) => SqlCall<Row>;

/**
 * What a write survives: the end of this process, a crash of the database server, or a power cut. The first two are the
 * same in the embedded store.
 */
export type Survives = 'process' | 'server' | 'power';

/** The database as both kinds of store offer it. The tables guarantee `Row` (Q8). */
export type Sql = Readonly<{
  /** Prepares a statement, whose values are `?1`, `?2` and so on. */
  statement<Row = never>(text: string): SqlStatement<Row>;
  read<Row>(call: SqlCall<Row>): Promise<readonly Row[]>;
  /** Runs a script as one transaction. With `alone`, no other write with one of these names runs at the same time. */
  write<T>(survives: Survives, script: Script<T>, alone?: readonly string[]): Promise<T>;
  /** Runs a write that outlives the process. Messages that arrive for this queue wait for its end. */
  beforeArrivals<T>(queue: string, script: Script<T>): Promise<T>;
  /**
   * Looks rows up by text keys (`?1`, …), sorted by `order`. Up to `most` lookups of one moment may share a statement.
   */
  lookup<Row>(
    text: string,
    options: Readonly<{ most: number; order?: string }>,
  ): (...keys: readonly string[]) => Promise<readonly Row[]>;
  /** A write that is refused if its queue was lost. Its condition begins with `dialect.held`. */
  guarded<Row = never>(text: string): (...values: readonly SqlValue[]) => Promise<SqlAnswer<Row>>;
  /** Milliseconds since 1970, by a clock that all processes share. */
  now(): Script<number>;
  /** Whether a newer version has used this database (Q15). Undefined if the store refuses such a database. */
  isBehind?(): Promise<boolean>;
  dialect: Dialect;
}>;

type Dialect = Readonly<{
  contains(column: string, text: string): string;
  /** Ends a SELECT in a transaction, so that others wait before they change these rows. */
  forUpdate: string;
  /** Ends a SELECT so that it skips rows which others hold. */
  skipLocked: string;
  held: string;
  search: SearchDialect;
}>;

/** How to search. `holder` is the column compared with the holder; `newest` is what rows are sorted by, descending. */
type SearchPath = Readonly<{ from: string; holder: string; newest: string }>;

/**
 * Searches the table `said` by words of letters and digits. Access is part of it: a query finds only the words of one
 * holder.
 */
export type SearchDialect = Readonly<{
  few: SearchPath;
  /** Used if many rows may match; `?1` is the holder. */
  many: SearchPath;
  matches(query: string): string;
  all(holder: Holder, words: readonly SearchedWord[]): string;
  /** Makes the query for any of these words as whole words. */
  any(holder: Holder, words: readonly string[]): string;
  /** Statements to run before a search, for rows that the index lacks yet. */
  catchUp?: readonly string[];
}>;

export type SearchedWord = Readonly<{ word: string; isBeginning: boolean }>;

/** Makes changes by hand. If `changed` is true for the result, the queues of these items are looked at now. */
export type ByOperator = <T>(
  keys: readonly string[],
  survives: Survives,
  script: Script<T>,
  changed: (result: T) => boolean,
) => Promise<T>;

export function hasChanged({ changed }: SqlAnswer<unknown>): boolean {
  return changed > 0;
}

export function callOf<Row>(text: string, values: readonly SqlValue[]): SqlCall<Row> {
  const call: SqlCall<Row> = {
    text,
    values,
    *[Symbol.iterator]() {
      const [answer] = yield [call];
      return answer as SqlAnswer<Row>;
    },
  };
  return call;
}

export function* each<Row>(
  calls: readonly SqlCall<Row>[],
): Generator<readonly SqlCall<unknown>[], readonly SqlAnswer<Row>[], readonly SqlAnswer<unknown>[]> {
  return (yield calls) as readonly SqlAnswer<Row>[];
}

export type Steps<T> = Generator<readonly SqlCall<unknown>[], T, readonly SqlAnswer<unknown>[]>;
