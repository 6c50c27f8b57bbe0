/**
 * Loaded before the bot (`node --import`): ends its own process by SIGKILL at a named statement of the database, so that
 * a kill falls exactly where it is meant to. The product knows nothing of it: the drivers are wrapped.
 *
 * `SKILLET_KILL_AT` is JSON: `{ "at": "INSERT INTO entries.*tool_result", "when": "before" | "after" | "committed", "nth": 1 }`.
 * `at` is matched against the SQL on one line, followed by its values as JSON; `committed` means after the COMMIT that
 * follows the statement.
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
const pattern = new RegExp(at);
const state = { left: nth, armed: false };

function die(): void {
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment to arrive; nothing more must happen meanwhile.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Whether this statement is the one, counted. */
function isIt(sql: string, values: readonly unknown[]): boolean {
  if (!pattern.test(`${sql.replace(/\s+/g, ' ')} ${JSON.stringify(values)}`)) return false;
  state.left -= 1;
  return state.left === 0;
}

/** Around one statement: `after` is for when it is done. */
function around(sql: string, values: readonly unknown[]): { after(): void } {
  if (state.armed && /^\s*COMMIT\b/i.test(sql)) return { after: die };
  if (!isIt(sql, values)) return { after: () => undefined };
  if (when === 'before') die();
  if (when === 'committed') state.armed = true;
  return { after: when === 'after' ? die : () => undefined };
}

for (const name of ['run', 'get', 'all'] as const) {
  const original = StatementSync.prototype[name] as (...values: unknown[]) => unknown;
  const wrapped = function (this: StatementSync, ...values: unknown[]): unknown {
    const { after } = around(this.sourceSQL, values);
    const result = original.apply(this, values);
    after();
    return result;
  };
  Object.defineProperty(StatementSync.prototype, name, { value: wrapped });
}

const exec = DatabaseSync.prototype.exec;
DatabaseSync.prototype.exec = function (sql) {
  const { after } = around(sql, []);
  exec.call(this, sql);
  after();
};

type Query = (this: unknown, ...given: unknown[]) => unknown;

/** Only where the bot is on PostgreSQL: loading the driver takes time. */
if (process.env['SKILLET_KILL_PG'] === '1') {
  const { default: pg } = await import('pg');
  const query = pg.Client.prototype.query as Query;
  const wrapped: Query = function (...given) {
    const [first, second] = given as [string | { text?: string; values?: unknown[] }, unknown];
    const sql = typeof first === 'string' ? first : (first.text ?? '');
    const values = typeof first === 'string' ? (Array.isArray(second) ? second : []) : (first.values ?? []);
    const { after } = around(sql, values as unknown[]);
    const result = query.apply(this, given);
    if (result instanceof Promise) {
      return result.then((value: unknown) => {
        after();
        return value;
      });
    }
    return result;
  };
  Object.defineProperty(pg.Client.prototype, 'query', { value: wrapped });
}
