/**
 * Loaded before the bot (`node --import`): ends its own process by SIGKILL at a named statement of the database, so that
 * a kill falls exactly where it is meant to. The product knows nothing of it: the drivers are wrapped.
 *
 * `SKILLET_KILL_AT` is JSON: `{ "at": "INSERT INTO entries.*tool_result", "when": "before" | "after" | "committed", "nth": 1 }`.
 * `at` is matched against the SQL on one line, followed by its values as JSON; `committed` means after the COMMIT that
 * follows the statement on its connection, or after the statement where it is a transaction of its own.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite';

const {
  at,
  when,
  nth = 1,
} = JSON.parse(process.env['SKILLET_KILL_AT'] ?? '') as {
  at: string;
  when: 'before' | 'after' | 'committed';
  nth?: number;
};
const pattern = new RegExp(at, 'g');
const state = { left: nth };
/** Connections in a transaction; true where its COMMIT is the moment. */
const open = new WeakMap<object, boolean>();

function die(): void {
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment to arrive; nothing more must happen meanwhile.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Whether this statement is the one, counted; what one statement writes for several may match several times. */
function isIt(sql: string, values: readonly unknown[]): boolean {
  const before = state.left;
  state.left -= [...`${sql.replace(/\s+/g, ' ')} ${JSON.stringify(values)}`.matchAll(pattern)].length;
  return before > 0 && state.left <= 0;
}

const nothing = (): void => undefined;

/** Around one statement of a connection; what it gives is to be called when the statement is done. */
function around(connection: object, sql: string, values: readonly unknown[]): () => void {
  // The job engine sends whole transactions as one text.
  if (/^\s*BEGIN\b/i.test(sql) && !/\bCOMMIT;?\s*$/i.test(sql)) open.set(connection, false);
  if (/^\s*(COMMIT|ROLLBACK)\b/i.test(sql)) {
    const ends = open.get(connection) === true && /COMMIT/i.test(sql);
    open.delete(connection);
    return ends ? die : nothing;
  }
  if (!isIt(sql, values)) return nothing;
  if (when === 'before') die();
  if (when === 'after' || !open.has(connection)) return die;
  open.set(connection, true);
  return nothing;
}

/** The embedded store has one connection. */
const embedded = {};
for (const name of ['run', 'get', 'all'] as const) {
  const original = StatementSync.prototype[name] as (...values: unknown[]) => unknown;
  const wrapped = function (this: StatementSync, ...values: unknown[]): unknown {
    const done = around(embedded, this.sourceSQL, values);
    const result = original.apply(this, values);
    done();
    return result;
  };
  Object.defineProperty(StatementSync.prototype, name, { value: wrapped });
}

const exec = DatabaseSync.prototype.exec;
DatabaseSync.prototype.exec = function (sql) {
  const done = around(embedded, sql, []);
  exec.call(this, sql);
  done();
};

type Query = (this: object, ...given: unknown[]) => unknown;

/** Only where the bot is on PostgreSQL: loading the driver takes time. */
if (process.env['SKILLET_KILL_PG'] === '1') {
  const { default: pg } = await import('pg');
  const query = pg.Client.prototype.query as Query;
  const wrapped: Query = function (...given) {
    const [first] = given as [string | { text?: string; values?: unknown[] }];
    const asked = typeof first === 'string' ? { text: first } : first;
    const done = around(this, asked.text ?? '', asked.values ?? []);
    const result = query.apply(this, given);
    if (!(result instanceof Promise)) return result;
    return result.then((value: unknown) => {
      done();
      return value;
    });
  };
  Object.defineProperty(pg.Client.prototype, 'query', { value: wrapped });
}
