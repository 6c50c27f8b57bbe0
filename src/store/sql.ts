/** A value of a statement. */
export type SqlValue = string | number | null;

export type Answer<Row> = Readonly<{ rows: readonly Row[]; /** Rows written. */ changed: number }>;

/** The steps of a transaction. Each `yield*` of a call returns its answer: at once from SQLite, later from PostgreSQL. */
export type Script<T> = Readonly<{
  [Symbol.iterator](): Iterator<readonly Call<unknown>[], T, readonly Answer<unknown>[]>;
}>;

/** A statement with its values; also a script of this one step. */
export type Call<Row = never> = Script<Answer<Row>> & Readonly<{ text: string; values: readonly SqlValue[] }>;

export type Statement<Row = never> = (...values: readonly SqlValue[]) => Call<Row>;

/**
 * What a write outlives: the end of this `process`, a crash of the database `server`, or a loss of `power`, too. In the
 * embedded store the first two are the same.
 */
export type Survives = 'process' | 'server' | 'power';

/** The database as repositories see it that are written once (Q8). Rows come as `Row` says: the tables hold the types. */
export type Sql = Readonly<{
  /** `?1` in the text is the first value. */
  statement<Row = never>(text: string): Statement<Row>;
  read<Row>(call: Call<Row>): Promise<readonly Row[]>;
  /** One transaction. `alone`: no other write with one of these names runs beside it. */
  write<T>(survives: Survives, script: Script<T>, alone?: readonly string[]): Promise<T>;
  /** Rows by text keys (`?1`, …), sorted by a column where `order` names one. Up to `most` that are asked for at one moment share a statement where that is faster. */
  lookup<Row>(
    text: string,
    options: Readonly<{ most: number; order?: string }>,
  ): (...keys: readonly string[]) => Promise<readonly Row[]>;
  /** A write on its own, refused if the lane it is made for was lost: its condition begins with `dialect.held`. */
  guarded<Row = never>(text: string): (...values: readonly SqlValue[]) => Promise<Answer<Row>>;
  /** Milliseconds since 1970 by the clock that all processes share. */
  now(): Script<number>;
  dialect: Dialect;
}>;

/** Parts of statements that differ. */
export type Dialect = Readonly<{
  contains(column: string, text: string): string;
  /** Ends a SELECT inside a transaction: others wait to change these rows. */
  forUpdate: string;
  /** The same, without rows that others hold. */
  skipLocked: string;
  held: string;
}>;

/** Makes changes that may leave items of these keys due: if it `changed` something, their lanes are looked at now. */
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

/** Several calls in one step of a script; they don't wait for each other's answers. */
export function* each<Row>(
  calls: readonly Call<Row>[],
): Generator<readonly Call<unknown>[], readonly Answer<Row>[], readonly Answer<unknown>[]> {
  return (yield calls) as readonly Answer<Row>[];
}

/** What a script is made with: `function* (): Steps<T>`. */
export type Steps<T> = Generator<readonly Call<unknown>[], T, readonly Answer<unknown>[]>;
