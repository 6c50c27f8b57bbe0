import { lockOf } from './queue-of.ts';
import type { Database } from './open-database.ts';
import type { Store, UsageRow } from '../store.ts';

/** Milliseconds since 1970. */
const now = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

type Row = Omit<UsageRow, 'tokens'> &
  Readonly<{ input: number; output: number; cache_read: number; cache_write: number }>;

/** Sums of tokens on PostgreSQL. */
export function createUsage({ query }: Database): Store['usage'] {
  return async ({ day, sender }) => {
    const { rows } = await query<Row>(
      `SELECT day, sender, conversation, skill, model, requests, input, output, cache_read, cache_write
       FROM skillet.usage WHERE ($1::text IS NULL OR day = $1) AND ($2::text IS NULL OR sender = $2)
       ORDER BY day, sender, conversation, skill, model`,
      [day ?? null, sender ?? null],
    );
    return rows.map(({ input, output, cache_read, cache_write, ...row }) => ({
      ...row,
      tokens: { input, output, cacheRead: cache_read, cacheWrite: cache_write },
    }));
  };
}

/** `Store.countUse` on PostgreSQL, by the server's clock: who counts under a key is alone with it. */
export function createUses({ transaction }: Database): Store['countUse'] {
  return async (id, limits) => {
    if (limits.length === 0) return undefined;
    const values = [
      id,
      limits.map(({ key }) => key),
      limits.map(({ most }) => most),
      limits.map(({ ms }) => ms),
    ];
    const locks = limits.map(({ key }) => lockOf('use', key));
    return transaction({ outlives: 'memory', locks }, async (query) => {
      const { rows } = await query<Readonly<{ key: string; freeAt: number }>>(
        `SELECT asked.key, in_the_way.used_at + asked.ms AS "freeAt"
         FROM unnest($2::text[], $3::integer[], $4::bigint[]) WITH ORDINALITY AS asked (key, most, ms, place)
         CROSS JOIN LATERAL (
           SELECT used_at FROM skillet.uses WHERE key = asked.key AND used_at > ${now} - asked.ms
           ORDER BY used_at DESC LIMIT 1 OFFSET asked.most - 1) AS in_the_way
         WHERE NOT EXISTS (SELECT 1 FROM skillet.uses WHERE key = asked.key AND id = $1)
         ORDER BY asked.place LIMIT 1`,
        values,
      );
      if (rows[0] !== undefined) return rows[0];
      await query(
        `INSERT INTO skillet.uses (key, id, used_at) SELECT key, $1, ${now} FROM unnest($2::text[]) AS key
         ON CONFLICT DO NOTHING`,
        values.slice(0, 2),
      );
      return undefined;
    });
  };
}
