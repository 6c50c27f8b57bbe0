import type { SharedLimit, Store } from '../store.ts';
import type { Database } from './open-database.ts';

/**
 * Counts uses in limits that all processes share. Each key holds the time when its uses are paid off, by the server's
 * clock. One statement in one order of keys prevents deadlocks.
 */
export function createReserve({ query }: Database): Store['reserve'] {
  return async (limits) => {
    const byKey = new Map<string, SharedLimit>(limits.map((limit) => [limit.key, limit]));
    if (byKey.size === 0) return 0;
    const { rows } = await query<Readonly<{ key: string; ahead: number }>>(
      `INSERT INTO skillet.limits AS kept (key, every, free_at)
       SELECT key, every, ${now} + every FROM unnest($1::text[], $2::float8[]) AS new (key, every) ORDER BY key
       ON CONFLICT (key) DO UPDATE SET every = excluded.every,
         free_at = greatest(kept.free_at, excluded.free_at - excluded.every) + excluded.every
       RETURNING key, free_at - ${now} AS ahead`,
      [[...byKey.keys()], [...byKey.values()].map(({ ms }) => ms)],
    );
    const waits = rows.map(({ key, ahead }) => {
      const limit = byKey.get(key);
      return limit === undefined ? 0 : ahead - limit.count * limit.ms;
    });
    return Math.max(0, Math.ceil(Math.max(...waits)));
  };
}

const now = 'extract(epoch FROM statement_timestamp())::float8 * 1000';
