import { noTokens } from '../core/model.ts';
import { each, type Sql, type Steps } from './sql.ts';
import type { StatsRow, Store, UsageRow, UseLimit } from './store.ts';

type Counts = Readonly<{ input: number; output: number; cache_read: number; cache_write: number }>;
type Used = Omit<UsageRow, 'tokens'> & Counts;
type Ran = Omit<StatsRow, 'requests' | 'tokens'>;

const user = 'sender, conversation, skill, model';
const key = `day, ${user}`;

export function createUsage(sql: Sql): Pick<Store, 'usage' | 'usedBetween' | 'stats'> {
  const used = `SELECT ${key}, requests, input, output, cache_read, cache_write
    FROM usage WHERE day >= ?1 AND day <= ?2`;
  const ofDays = sql.statement<Used>(`${used} ORDER BY ${key}`);
  const ofSender = sql.statement<Used>(`${used} AND sender = ?3 ORDER BY ${key}`);
  const whole = (sum: string): string => `CAST(${sum} AS bigint)`;
  const counts = ['requests', 'input', 'output', 'cache_read', 'cache_write'];
  const between = sql.statement<Omit<Used, 'day'>>(
    `SELECT ${user}, ${counts.map((each) => `${whole(`SUM(${each})`)} AS ${each}`).join(', ')}
     FROM usage WHERE day >= ?1 AND day <= ?2 GROUP BY ${user} ORDER BY ${user}`,
  );
  const ran = sql.statement<Ran>(
    `SELECT ${key}, ${whole('COUNT(*)')} AS runs, ${whole('SUM(steps)')} AS steps,
       ${whole('SUM(failed)')} AS failures, MAX(at) AS "lastRunAt" FROM runs WHERE day >= ?1 GROUP BY ${key}`,
  );
  return {
    async usage({ day, sender }) {
      const days = [day ?? '', day ?? lastDay] as const;
      return (await sql.read(sender === undefined ? ofDays(...days) : ofSender(...days, sender))).map(
        toUsage,
      );
    },
    usedBetween: async (first, last) => (await sql.read(between(first, last))).map(toUsage),
    async stats(first) {
      const [uses, runs] = await Promise.all([sql.read(ofDays(first, lastDay)), sql.read(ran(first))]);
      const none = { runs: 0, steps: 0, failures: 0, lastRunAt: undefined };
      const rows = new Map<string, StatsRow>(uses.map((row) => [keyOf(row), { ...toUsage(row), ...none }]));
      // A run may fail before it uses a model.
      for (const row of runs)
        rows.set(keyOf(row), { requests: 0, tokens: noTokens, ...rows.get(keyOf(row)), ...row });
      return [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
    },
  };
}

/** SQL for a run whose row exists already, so that it counts once. */
export const againRun = 'DO UPDATE SET steps = excluded.steps, failed = excluded.failed, at = excluded.at';

/** Sorts after every day. */
const lastDay = '9';

function toUsage<Row extends Counts>({ input, output, cache_read, cache_write, ...row }: Row) {
  return { ...row, tokens: { input, output, cacheRead: cache_read, cacheWrite: cache_write } };
}

function keyOf({ day, sender, conversation, skill, model }: Omit<UsageRow, 'requests' | 'tokens'>): string {
  return JSON.stringify([day, sender, conversation, skill, model]);
}

export function createUses(sql: Sql): Store['countUse'] {
  const known = sql.statement('SELECT 1 FROM uses WHERE key = ?1 AND id = ?2');
  /** Finds the use that has to expire before there is room. */
  const inTheWay = sql.statement<Readonly<{ used_at: number }>>(
    'SELECT used_at FROM uses WHERE key = ?1 AND used_at > ?2 ORDER BY used_at DESC LIMIT 1 OFFSET ?3',
  );
  const insert = sql.statement(
    'INSERT INTO uses (key, id, used_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING',
  );

  function* count(id: string, limits: readonly UseLimit[]): Steps<Awaited<ReturnType<Store['countUse']>>> {
    const now = yield* sql.now();
    const counted = yield* each(limits.map(({ key }) => known(key, id)));
    const uses = yield* each(limits.map(({ key, most, ms }) => inTheWay(key, now - ms, most - 1)));
    for (const [n, { key, ms }] of limits.entries()) {
      const use = uses[n]?.rows[0];
      if (use !== undefined && counted[n]?.rows.length === 0) return { key, freeAt: use.used_at + ms };
    }
    yield* each(limits.map(({ key }) => insert(key, id, now)));
    return undefined;
  }

  return async (id, limits) => {
    if (limits.length === 0) return undefined;
    const keys = limits.map(({ key }) => key);
    return sql.write('process', count(id, limits), keys);
  };
}
