import { each, type Sql, type Steps } from './sql.ts';
import type { Store, UsageRow, UseLimit } from './store.ts';

type Row = Omit<UsageRow, 'tokens'> &
  Readonly<{ input: number; output: number; cache_read: number; cache_write: number }>;

export function createUsage(sql: Sql): Store['usage'] {
  const select = `SELECT day, sender, conversation, skill, model, requests, input, output, cache_read, cache_write
    FROM usage WHERE day >= ?1 AND day <= ?2`;
  const order = 'ORDER BY day, sender, conversation, skill, model';
  const ofDays = sql.statement<Row>(`${select} ${order}`);
  const ofSender = sql.statement<Row>(`${select} AND sender = ?3 ${order}`);
  return async ({ day, sender }) => {
    // Every day is between "" and "9".
    const days = [day ?? '', day ?? '9'] as const;
    const rows = await sql.read(sender === undefined ? ofDays(...days) : ofSender(...days, sender));
    return rows.map(({ input, output, cache_read, cache_write, ...row }) => ({
      ...row,
      tokens: { input, output, cacheRead: cache_read, cacheWrite: cache_write },
    }));
  };
}

export function createUses(sql: Sql): Store['countUse'] {
  const known = sql.statement('SELECT 1 FROM uses WHERE key = ?1 AND id = ?2');
  /** The use that must expire before there is room. */
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
