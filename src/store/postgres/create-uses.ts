import type { Store } from '../store.ts';
import { lockOf } from './lock-of.ts';
import type { Database } from './open-database.ts';

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

/** Milliseconds since 1970. */
const now = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
