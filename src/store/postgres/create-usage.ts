import type { Store } from '../store.ts';
import type { UsageRow } from '../usage.ts';
import type { Database } from './open-database.ts';

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
