import type { Holder } from '../core/memory.ts';

export type SqlValue = string | number | null;

export type Answer<Row> = Readonly<{ rows: readonly Row[]; /** Rows written. */ changed: number }>;

/** Each `yield*` of a call returns its answer: at once from SQLite, later from PostgreSQL. */
export type Script<T> = Readonly<{
  [Symbol.iterator](): Iterator<readonly Call<unknown>[], T, readonly Answer<unknown>[]>;
}>;

/** Also a script of one step. */
export type Call<Row = never> = Script<Answer<Row>> & Readonly<{ text: string; values: readonly SqlValue[] }>;

export type Statement<Row = never> = (...values: readonly SqlValue[]) => Call<Row>;

/** The end of this process, a crash of the database server, a power cut. The first two are the same in the embedded store. */
export type Survives = 'process' | 'server' | 'power';

/** The tables guarantee `Row` (Q8). */
export type Sql = Readonly<{
  /** Values are `?1`, `?2`, … */
  statement<Row = never>(text: string): Statement<Row>;
  read<Row>(call: Call<Row>): Promise<readonly Row[]>;
  /** `alone`: no other write with one of these names runs at the same time. */
  write<T>(survives: Survives, script: Script<T>, alone?: readonly string[]): Promise<T>;
  /** A write that outlives the process. Messages that arrive for this lane wait for its end. */
  beforeArrivals<T>(lane: string, script: Script<T>): Promise<T>;
  /** By text keys (`?1`, …), sorted by `order`. Up to `most` lookups of one moment may share a statement. */
  lookup<Row>(
    text: string,
    options: Readonly<{ most: number; order?: string }>,
  ): (...keys: readonly string[]) => Promise<readonly Row[]>;
  /** Refused if its lane was lost. Its condition begins with `dialect.held`. */
  guarded<Row = never>(text: string): (...values: readonly SqlValue[]) => Promise<Answer<Row>>;
  /** Milliseconds since 1970 by the shared clock. */
  now(): Script<number>;
  /** A newer version has used this database (Q15). Undefined: such a database is refused. */
  isBehind?(): Promise<boolean>;
  dialect: Dialect;
}>;

type Dialect = Readonly<{
  contains(column: string, text: string): string;
  /** Ends a SELECT in a transaction: others wait to change these rows. */
  forUpdate: string;
  /** Skips rows that others hold. */
  skipLocked: string;
  held: string;
  search: SearchDialect;
}>;

/** `holder`: what is compared with it. `newest`: what rows are sorted by, descending. */
type SearchPath = Readonly<{ from: string; holder: string; newest: string }>;

/** Of the table `said` by its words, which are letters and digits. Access is part of it: a query finds words of one holder. */
export type SearchDialect = Readonly<{
  few: SearchPath;
  /** Where many rows may match; `?1` is the holder. */
  many: SearchPath;
  matches(query: string): string;
  all(holder: Holder, words: readonly SearchedWord[]): string;
  /** Whole words. */
  any(holder: Holder, words: readonly string[]): string;
  /** Before a search: statements for what the index lacks yet. */
  catchUp?: readonly string[];
}>;

export type SearchedWord = Readonly<{ word: string; isBeginning: boolean }>;

/** If something `changed`, the lanes of these items are looked at now. */
export type ByHand = <T>(
  keys: readonly string[],
  survives: Survives,
  script: Script<T>,
  changed: (result: T) => boolean,
) => Promise<T>;

export function hasChanged({ changed }: Answer<unknown>): boolean {
  return changed > 0;
}

export function callOf<Row>(text: string, values: readonly SqlValue[]): Call<Row> {
  const call: Call<Row> = {
    text,
    values,
    *[Symbol.iterator]() {
      const [answer] = yield [call];
      return answer as Answer<Row>;
    },
  };
  return call;
}

export function* each<Row>(
  calls: readonly Call<Row>[],
): Generator<readonly Call<unknown>[], readonly Answer<Row>[], readonly Answer<unknown>[]> {
  return (yield calls) as readonly Answer<Row>[];
}

export type Steps<T> = Generator<readonly Call<unknown>[], T, readonly Answer<unknown>[]>;
