import pg from 'pg';
import type { Log } from '../../lib/log.ts';
import type { Answer } from '../sql.ts';

/** Without the driver's error as cause: it quotes rows, host and user (S3, L5). */
export class DatabaseFault extends Error {
  override readonly name = 'DatabaseFault';
  /** SQLSTATE, or the system's code. */
  readonly code: string | undefined;
  /** The connection can still be used. */
  readonly connected: boolean;

  constructor(message: string, more: { code: string | undefined; connected: boolean }) {
    super(message);
    this.code = more.code;
    this.connected = more.connected;
  }
}

/** The tables guarantee `Row`; bigint is a number. Rejects with DatabaseFault. */
export type Query = <Row = never>(sql: string, values?: readonly unknown[]) => Promise<Answer<Row>>;

/** `disk`: fsynced at commit. `memory`: a server crash may lose the last half second. */
type Outlives = 'disk' | 'memory';

/** Statements time out after 15 seconds (Q11). */
export type Database = Readonly<{
  /** A statement on its own; it outlives as `memory` does. */
  query: Query;
  /** `locks` are taken first in one order and held to the end. */
  transaction<T>(
    options: Readonly<{ outlives: Outlives; locks?: readonly bigint[]; withinMs?: number }>,
    work: (query: Query) => Promise<T>,
  ): Promise<T>;
  /** Another library's statements, transaction included; returns what the driver returns. */
  script(sql: string): Promise<unknown>;
  /** Outside the pool; the caller connects, ends and handles errors. Statements time out after 5 seconds. */
  dedicated(): pg.Client;
  /** A statement on this connection. */
  on(client: pg.ClientBase): Query;
  /** The server may have stopped. */
  onLoss(listener: () => void): void;
  close(): Promise<void>;
}>;

const statementMs = 15_000;
/** Also for a new connection. Nothing may wait for ever on one that nobody answers. */
const dedicatedMs = 5_000;
/** After the server's own timeout the connection is given up. */
const graceMs = 1_000;
const poolSize = 10;

/** `query_timeout`: milliseconds; the driver's types don't have it. */
export type Timed = pg.QueryConfig & Readonly<{ query_timeout: number }>;

/** Connects on first use. Throws if the URL is invalid. */
export function openDatabase(url: string, log: Log): Database {
  const settings: pg.ClientConfig = {
    connectionString: url,
    application_name: 'skillet',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: dedicatedMs,
    pipeline: true,
    types: { getTypeParser: parserOf },
  };
  const listeners = new Set<() => void>();
  const dedicated = () => new pg.Client({ ...settings, query_timeout: dedicatedMs });
  // Reads the URL; the pool would only do so later.
  dedicated();
  const pool = new pg.Pool({
    ...settings,
    max: poolSize,
    query_timeout: statementMs + graceMs,
    onConnect: setUp,
  });
  // Otherwise an error of a connection ends the process.
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

  /** Prepared: planned once a connection. */
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
        // Sent together with BEGIN; fails if that fails.
        const [begun, worked] = await Promise.allSettled([
          faulty(client.query(asked)),
          work(queryOn(client, withinMs)),
        ]);
        if (begun.status === 'rejected') throw begun.reason;
        if (worked.status === 'rejected') throw worked.reason;
        // May wait for a standby, which statement_timeout does not end.
        const commit: Timed = { text: 'COMMIT', query_timeout: withinMs + graceMs };
        await faulty(client.query(commit));
        return worked.value;
      }),
    script: (sql) => withClient((client) => faulty(client.query(sql))),
    dedicated,
    on: queryOn,
    onLoss: (listener) => void listeners.add(listener),
    close: () => pool.end(),
  };
}

/** Commits don't fsync by default. Plans are cached. Idle holders of locks are cut off. */
const sessionSettings = `SET search_path = skillet, "$user", public; SET synchronous_commit = off; SET plan_cache_mode = force_generic_plan; SET statement_timeout = ${statementMs};
  SET idle_in_transaction_session_timeout = 10000; SET client_min_messages = warning`;

/** The pool awaits it, despite its types. */
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

/** Row numbers and milliseconds fit. */
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
  // Messages with a code may name the host; the driver's own don't.
  const what = code ?? said;
  return new DatabaseFault(`The database could not be reached: ${what}`, { code, connected: false });
}
