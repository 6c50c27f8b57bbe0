import pg from 'pg';
import type { Log } from '../../lib/log.ts';
import type { Answer } from '../sql.ts';

/**
 * Something the database refused, or that it could not be reached. The driver's own error is not kept as a cause: it
 * quotes rows (messages of people) and names host and user of the connection (S3, L5).
 */
export class DatabaseFault extends Error {
  override readonly name = 'DatabaseFault';
  /** SQLSTATE, or the system's code of a failed connection. */
  readonly code: string | undefined;
  /** The server answered and did not hang up: the connection can go on. */
  readonly connected: boolean;

  constructor(message: string, more: { code: string | undefined; connected: boolean }) {
    super(message);
    this.code = more.code;
    this.connected = more.connected;
  }
}

/** Runs one SQL statement. Rows come as `Row` says: the tables hold the types, and bigint is a number. Rejects with DatabaseFault. */
export type Query = <Row = never>(sql: string, values?: readonly unknown[]) => Promise<Answer<Row>>;

/** `disk`: on the server's disk when it is committed. `memory`: outlives this process; a server that crashes may lose the last half second of it. */
export type Outlives = 'disk' | 'memory';

/** PostgreSQL behind a pool. A statement is given up after 15 seconds: nothing waits for ever for a server that hangs (Q11). */
export type Database = Readonly<{
  /** A statement on its own; it outlives as `memory` does. */
  query: Query;
  /**
   * All of what `work` writes, or nothing if it throws. `locks` are taken first, in one order for all, and held to the
   * end: what holds the same lock runs one after another.
   */
  transaction<T>(
    options: Readonly<{ outlives: Outlives; locks?: readonly bigint[]; withinMs?: number }>,
    work: (query: Query) => Promise<T>,
  ): Promise<T>;
  /** Statements without values as another library wrote them, transaction and all; gives what the driver gives. */
  script(sql: string): Promise<unknown>;
  /** A connection outside the pool: the caller connects it, ends it, and listens to its errors. */
  dedicated(): pg.Client;
  /** Told when a connection was lost: the server may have stopped. */
  onLoss(listener: () => void): void;
  /** Resolves when every connection of the pool has ended. */
  close(): Promise<void>;
}>;

const statementMs = 15_000;
/** The server gives a statement up; where it does not even say so, the connection is given up a little later. */
const graceMs = 1_000;
const poolSize = 10;

/** The driver takes a time for each statement, which its types do not know. */
type Timed = pg.QueryConfig & Readonly<{ query_timeout: number }>;

/** Opens the pool, which connects when it is first used. Throws where the URL is none. */
export function openDatabase(url: string, log: Log): Database {
  const settings: pg.ClientConfig = {
    connectionString: url,
    application_name: 'skillet',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 5_000,
    pipeline: true,
    types: { getTypeParser: parserOf },
  };
  const listeners = new Set<() => void>();
  const dedicated = () => new pg.Client(settings);
  // Reads the URL; the pool would only do so later.
  dedicated();
  const pool = new pg.Pool({
    ...settings,
    max: poolSize,
    query_timeout: statementMs + graceMs,
    onConnect: setUp,
  });
  // An error of a connection that nobody listens to ends the process.
  const heard = (error: Error) => {
    log.debug({ err: toFault(error) }, 'a connection to the database ended');
    for (const listener of listeners) listener();
  };
  pool.on('error', heard);
  pool.on('connect', (client) => client.on('error', heard));
  const names = new Map<string, string>();

  async function withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await faulty(pool.connect());
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      client.release(!(await rolledBack(client, error)));
      throw error;
    }
  }

  /** A prepared statement under a name of its own: parsed and planned once a connection. */
  const queryOn =
    (client: pg.PoolClient, withinMs = statementMs): Query =>
    async <Row>(text: string, values: readonly unknown[] = []) => {
      const name = names.get(text) ?? `skillet_${names.size}`;
      names.set(text, name);
      const asked: Timed = { name, text, values: [...values], query_timeout: withinMs + graceMs };
      const { rows, rowCount } = await faulty(client.query(asked));
      return { rows: rows as Row[], changed: rowCount ?? 0 };
    };

  return {
    query: (sql, values) => withClient((client) => queryOn(client)(sql, values)),
    transaction: ({ outlives, locks = [], withinMs = statementMs }, work) =>
      withClient(async (client) => {
        const sorted = [...new Set(locks)].sort((a, b) => (a < b ? -1 : 1));
        const begin = [
          'BEGIN',
          ...(outlives === 'disk' ? ['SET LOCAL synchronous_commit = on'] : []),
          ...(withinMs === statementMs ? [] : [`SET LOCAL statement_timeout = ${withinMs}`]),
          ...sorted.map((lock) => `SELECT pg_advisory_xact_lock('${lock}'::bigint)`),
        ];
        const asked: Timed = { text: begin.join('; '), query_timeout: withinMs + graceMs };
        // What comes first is sent along; where the beginning fails it fails too.
        const [begun, worked] = await Promise.allSettled([
          faulty(client.query(asked)),
          work(queryOn(client, withinMs)),
        ]);
        if (begun.status === 'rejected') throw begun.reason;
        if (worked.status === 'rejected') throw worked.reason;
        await faulty(client.query('COMMIT'));
        return worked.value;
      }),
    script: (sql) => withClient((client) => faulty(client.query(sql))),
    dedicated,
    onLoss: (listener) => void listeners.add(listener),
    close: () => pool.end(),
  };
}

/** A commit coordinates only, unless it says otherwise. What is asked is the same each time: it is planned once. Who holds locks and sleeps is cut off. */
const sessionSettings = `SET search_path = skillet, "$user", public; SET synchronous_commit = off; SET plan_cache_mode = force_generic_plan; SET statement_timeout = ${statementMs};
  SET idle_in_transaction_session_timeout = 10000; SET client_min_messages = warning`;

/** The pool waits for it, whatever its types say. */
function setUp(client: pg.ClientBase): void {
  return client.query(sessionSettings) as unknown as void;
}

async function faulty<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw toFault(error);
  }
}

/** Whether the connection is fit for others again: usable, and in no transaction. */
async function rolledBack(client: pg.PoolClient, error: unknown): Promise<boolean> {
  if (error instanceof DatabaseFault && !error.connected) return false;
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  );
}

const bigint = 20;

/** Numbers of rows and milliseconds fit a JavaScript number. */
function parserOf(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  return oid === bigint ? Number : (pg.types.getTypeParser(oid, format) as (text: string) => unknown);
}

/** An error of the driver as one that may be logged. */
export function toFault(error: unknown): DatabaseFault {
  const said = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  if (error instanceof pg.DatabaseError) {
    const connected = !/^(08|57P|XX)/.test(code ?? '');
    return new DatabaseFault(`The database refused: ${said} (${code ?? 'no code'})`, { code, connected });
  }
  // A code stands for a message that may name the host; what the driver says itself names nothing.
  const what = code ?? said;
  return new DatabaseFault(`The database could not be reached: ${what}`, { code, connected: false });
}
