import type { Clock } from '../../lib/clock.ts';
import { callOf, type SqlAnswer, type SqlCall, type Script, type Sql, type SqlValue } from '../sql.ts';
import type { SqliteConnection } from './open-connection.ts';
import { searchSqlite } from './search-said.ts';

export type LocalSql = Sql & Readonly<{ run<T>(script: Script<T>): T }>;

/** Runs SQL on the connection. Each call is done when it returns. */
export function createSqliteSql(connection: SqliteConnection, clock: Clock): LocalSql {
  const prepared = new Map<string, (values: readonly SqlValue[]) => SqlAnswer<unknown>>();

  function prepare(text: string): void {
    if (prepared.has(text)) return;
    const statement = connection.prepare<unknown>(text);
    const returnsRows = /^SELECT|\bRETURNING\b/.test(text);
    prepared.set(text, (values) => {
      if (!returnsRows) return { rows: [], changed: statement.run(...values) };
      const rows = statement.all(...values);
      return { rows, changed: rows.length };
    });
  }

  function answer<Row>({ text, values }: SqlCall<Row>): SqlAnswer<Row> {
    const run = prepared.get(text);
    if (run === undefined) throw new Error(`not prepared: ${text}`);
    return run(values) as SqlAnswer<Row>;
  }

  function run<T>(script: Script<T>): T {
    const steps = script[Symbol.iterator]();
    let step = steps.next();
    while (step.done !== true) step = steps.next(step.value.map(answer));
    return step.value;
  }

  const statement = <Row>(text: string) => {
    prepare(text);
    return (...values: readonly SqlValue[]): SqlCall<Row> => callOf(text, values);
  };

  return {
    run,
    statement,
    read: async (call) => answer(call).rows,
    write: async (survives, script) =>
      connection.write(survives === 'power' ? 'power' : 'process', () => run(script)),
    beforeArrivals: async (_queue, script) => connection.write('process', () => run(script)),
    lookup<Row>(text: string, { order }: Readonly<{ order?: string }>) {
      const find = statement<Row>(order === undefined ? text : `${text} ORDER BY ${order}`);
      return async (...keys) => answer(find(...keys)).rows;
    },
    guarded<Row>(text: string) {
      const write = statement<Row>(text);
      return async (...values) => connection.write('process', () => answer(write(...values)));
    },
    now: () => ({ [Symbol.iterator]: () => ({ next: () => ({ done: true, value: clock.now() }) }) }),
    dialect: {
      contains: (column, text) => `instr(${column}, ${text}) > 0`,
      forUpdate: '',
      skipLocked: '',
      held: 'TRUE',
      search: searchSqlite,
    },
  };
}
