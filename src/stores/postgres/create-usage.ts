import type { Store, Use, UsageRow } from '../store.ts';
import type { Database, Query } from './open-database.ts';

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

/** Adds uses to the sums, inside a transaction; in one order for all, so that two never wait for each other. */
export async function addUses(query: Query, uses: readonly Use[]): Promise<void> {
  await query(
    `INSERT INTO skillet.usage AS kept
       (day, sender, conversation, skill, model, requests, input, output, cache_read, cache_write)
     SELECT day, sender, conversation, skill, model, count(*), sum(input), sum(output), sum(cache_read), sum(cache_write)
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[])
       AS new (day, sender, conversation, skill, model, input, output, cache_read, cache_write)
     GROUP BY day, sender, conversation, skill, model ORDER BY day, sender, conversation, skill, model
     ON CONFLICT (day, sender, conversation, skill, model) DO UPDATE SET requests = kept.requests + excluded.requests,
       input = kept.input + excluded.input, output = kept.output + excluded.output,
       cache_read = kept.cache_read + excluded.cache_read, cache_write = kept.cache_write + excluded.cache_write`,
    [
      uses.map(({ day }) => day),
      uses.map(({ sender }) => sender),
      uses.map(({ conversation }) => conversation),
      uses.map(({ skill }) => skill),
      uses.map(({ model }) => model),
      uses.map(({ tokens }) => tokens.input),
      uses.map(({ tokens }) => tokens.output),
      uses.map(({ tokens }) => tokens.cacheRead),
      uses.map(({ tokens }) => tokens.cacheWrite),
    ],
  );
}
