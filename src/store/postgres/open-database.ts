import pg from 'pg';
import type { Log } from '../../lib/log.ts';
import type { SqlAnswer } from '../sql.ts';

/** A failure of the database. It has no `cause`, because the driver's error quotes rows, host and user (S3, L5). */
export class DatabaseFault extends Error {
  override readonly name = 'DatabaseFault';
  /** SQLSTATE of the server, or the code of the operating system. */
  readonly code: string | undefined;
  /** True if the connection can still be used. */
  readonly connected: boolean;

  constructor(message: string, more: { code: string | undefined; connected: boolean }) {
    super(message);
    this.code = more.code;
    this.connected = more.connected;
  }
}

/** Runs one statement. The tables guarantee `Row`, with bigint as a number. Rejects with DatabaseFault. */
export type Query = <Row = never>(sql: string, values?: readonly unknown[]) => Promise<SqlAnswer<Row>>;

/**
 * What a commit survives. `disk`: anything, because it was synced. `memory`: not a crash of the server, which may lose
 * the last half second.
 */
type Outlives = 'disk' | 'memory';

/** Connections to the database. Statements time out after 15 seconds (Q11). */
export type Database = Readonly<{
  /** Runs a statement as a transaction of its own, which outlives as `memory` does. */
  query: Query;
  /** Runs work in one transaction. `locks` are taken first, in one order, and held to the end. */
  transaction<T>(
    options: Readonly<{ outlives: Outlives; locks?: readonly bigint[]; withinMs?: number }>,
    work: (query: Query) => Promise<T>,
  ): Promise<T>;
  /** Runs statements of another library, including its transaction. Returns what the driver returns. */
  script(sql: string): Promise<unknown>;
  /**
   * A connection outside of the pool. The caller connects, ends and handles errors. Statements time out after 5
   * seconds.
   */
  dedicated(): pg.Client;
  /** Runs statements on the given connection. */
  on(client: pg.ClientBase): Query;
  /** Calls the listener when a connection ended, as the server may have stopped. */
  onLoss(listener: () => void): void;
  close(): Promise<void>;
}>;

const statementMs = 15_000;
/** In milliseconds, for new connections too. Nothing may wait forever on a connection that nobody answers. */
const dedicatedMs = 5_000;
/** Milliseconds after the server's own timeout until the connection is given up. */
const graceMs = 1_000;
const poolSize = 10;

/** A query with its own timeout in milliseconds, which the driver's types lack. */
export type Timed = pg.QueryConfig & Readonly<{ query_timeout: number }>;

/** Connects when it is first used. Throws if the URL is invalid. */
export function openDatabase(url: string, log: Log): Database {
  const settings = settingsOf(url);
  const listeners = new Set<() => void>();
  const dedicated = () => new pg.Client({ ...settings, query_timeout: dedicatedMs });
  // Reads the URL now, because the pool would do so only later.
  dedicated();
  const pool = new pg.Pool({
    ...settings,
    max: poolSize,
    query_timeout: statementMs + graceMs,
    onConnect: setUp,
  });
  // Without a listener, an error of a connection would end the process.
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

  /** Runs a prepared statement, which is planned once per connection. */
  const queryOn =
    (client: pg.ClientBase, withinMs = statementMs): Query =>
    async <Row>(text: string, values: readonly unknown[] = []) => {
      const name = names.get(text) ?? `skillet_${names.size}`;
      names.set(text, name);
      const asked: Timed = { name, text, values: [...values], query_timeout: withinMs + graceMs };
      const { rows, rowCount } = await faulty(client.query(asked));
      return { rows: rows as Row[], changed: rowCount ?? 0 };
    };

  return {
    query: (sql, values) => withClient((client) => queryOn(client)(sql, values)),
    transaction: (how, work) =>
      withClient((client) => runTransaction(client, how, () => work(queryOn(client, how.withinMs)))),
    script: (sql) => withClient((client) => faulty(client.query(sql))),
    dedicated,
    on: queryOn,
    onLoss: (listener) => void listeners.add(listener),
    close: () => pool.end(),
  };
}

function settingsOf(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'skillet',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: dedicatedMs,
    pipeline: true,
    types: { getTypeParser: parserOf },
  };
}

/** Sends the work together with BEGIN. It fails if BEGIN does. */
async function runTransaction<T>(
  client: pg.PoolClient,
  { outlives, locks = [], withinMs = statementMs }: Parameters<Database['transaction']>[0],
  work: () => Promise<T>,
): Promise<T> {
  const sorted = [...new Set(locks)].sort((a, b) => (a < b ? -1 : 1));
  const begin = [
    'BEGIN',
    ...(outlives === 'disk' ? ['SET LOCAL synchronous_commit = on'] : []),
    ...(withinMs === statementMs ? [] : [`SET LOCAL statement_timeout = ${withinMs}`]),
    ...sorted.map((lock) => `SELECT pg_advisory_xact_lock('${lock}'::bigint)`),
  ];
  const asked: Timed = { text: begin.join('; '), query_timeout: withinMs + graceMs };
  const [begun, worked] = await Promise.allSettled([faulty(client.query(asked)), work()]);
  if (begun.status === 'rejected') throw begun.reason;
  if (worked.status === 'rejected') throw worked.reason;
  // A commit may wait for a standby server, which statement_timeout does not end.
  const commit: Timed = { text: 'COMMIT', query_timeout: withinMs + graceMs };
  await faulty(client.query(commit));
  return worked.value;
}

/** Settings of each session: commits don't sync by default, plans are cached, and idle holders of locks are cut off. */
const sessionSettings = `SET search_path = skillet, "$user", public; SET synchronous_commit = off; SET plan_cache_mode = force_generic_plan; SET statement_timeout = ${statementMs};
  SET idle_in_transaction_session_timeout = 10000; SET client_min_messages = warning`;

/** Sets up a connection. The pool awaits the result, although its types don't say so. */
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

async function rolledBack(client: pg.PoolClient, error: unknown): Promise<boolean> {
  if (error instanceof DatabaseFault && !error.connected) return false;
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  );
}

const bigint = 20;

/** Reads bigint as a number, because row numbers and milliseconds fit into one. */
function parserOf(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  return oid === bigint ? Number : (pg.types.getTypeParser(oid, format) as (text: string) => unknown);
}

/** Turns an error of the driver into one that may be logged. */
export function toFault(error: unknown): DatabaseFault {
  const said = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  if (error instanceof pg.DatabaseError) {
    const connected = !/^(08|57P|XX)/.test(code ?? '');
    return new DatabaseFault(`The database refused: ${said} (${code ?? 'no code'})`, { code, connected });
  }
  // A message with a code may name the host; the driver's own messages don't.
  const what = code ?? said;
  return new DatabaseFault(`The database could not be reached: ${what}`, { code, connected: false });
}
