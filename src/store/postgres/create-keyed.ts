import { Keyv, keyvStorageCapability, type KeyvStorageAdapter } from 'keyv';
import type { Log } from '../../lib/log.ts';
import { createBatch } from './create-batch.ts';
import type { Database, Outlives, Query } from './open-database.ts';

type Row = Readonly<{ key: string; value: string }>;
type Entry = Readonly<{ key: string; value: unknown; expires?: number }>;
type Methods = Pick<
  KeyvStorageAdapter,
  'get' | 'getMany' | 'has' | 'hasMany' | 'set' | 'setMany' | 'delete' | 'deleteMany' | 'clear' | 'iterator'
>;

/** Keys looked for in one statement. */
const most = 1_000;

/** Keyv on PostgreSQL (Q8). A failed read or write rejects; a damaged value counts as missing and is reported. */
export function createKeyed({ query, transaction }: Database, log: Log): (namespace: string) => Keyv {
  const live = `FROM skillet.keyed WHERE namespace = $1 AND (expires_at IS NULL OR expires_at > $2)`;
  const written: { readonly outlives: Outlives } = { outlives: 'disk' };

  return (namespace) => {
    function readable({ key, value }: Row): boolean {
      if (isJson(value)) return true;
      log.warn({ namespace, key }, 'a stored value is damaged and counts as missing');
      return false;
    }

    async function find(keys: readonly string[]): Promise<readonly (string | undefined)[]> {
      return Promise.all(keys.map(findOne));
    }

    // What is looked for at one moment is looked for together.
    const findOne = createBatch<string, string | undefined>(async (keys) => {
      const { rows } = await query<Row>(`SELECT key, value ${live} AND key = ANY($3)`, [
        namespace,
        Date.now(),
        [...new Set(keys)],
      ]);
      const values = new Map(rows.filter(readable).map(({ key, value }) => [key, value]));
      return keys.map((key) => values.get(key));
    }, most);

    async function store(entries: readonly Entry[]): Promise<boolean[]> {
      // The last of one key counts; one statement may not write a row twice.
      const last = [...new Map(entries.map((entry) => [entry.key, entry])).values()];
      await transaction(written, (within) =>
        within(
          `INSERT INTO skillet.keyed (namespace, key, value, expires_at)
           SELECT $1, key, value, expires_at FROM unnest($2::text[], $3::text[], $4::bigint[]) AS new (key, value, expires_at)
           ORDER BY key
           ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`,
          [
            namespace,
            last.map(({ key }) => key),
            last.map(({ value }) => String(value)),
            last.map(({ expires }) => expires ?? null),
          ],
        ),
      );
      return entries.map(() => true);
    }

    async function remove(within: Query, keys: readonly string[]): Promise<boolean[]> {
      const { rows } = await within<Readonly<{ key: string }>>(
        'DELETE FROM skillet.keyed WHERE namespace = $1 AND key = ANY($2) RETURNING key',
        [namespace, keys],
      );
      const gone = new Set(rows.map(({ key }) => key));
      return keys.map((key) => gone.has(key));
    }

    const methods: Methods = {
      get: async (key) => (await find([key]))[0],
      getMany: async (keys) => [...(await find(keys))],
      has: async (key) => (await find([key]))[0] !== undefined,
      hasMany: async (keys) => (await find(keys)).map((value) => value !== undefined),
      set: async (key, value, expires) => (await store([{ key, value, expires }]))[0] ?? false,
      setMany: (entries) => store(entries),
      delete: async (key) => (await transaction(written, (within) => remove(within, [key])))[0] ?? false,
      deleteMany: (keys) => transaction(written, (within) => remove(within, keys)),
      async clear() {
        await transaction(written, (within) =>
          within('DELETE FROM skillet.keyed WHERE namespace = $1', [namespace]),
        );
      },
      async *iterator() {
        const { rows } = await query<Row>(`SELECT key, value ${live} ORDER BY key`, [namespace, Date.now()]);
        for (const row of rows) if (readable(row)) yield [row.key, row.value];
      },
    };
    return new Keyv({ store: { ...methods, capabilities: keyvStorageCapability(methods) } });
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // The parser's own message quotes the text.
    return false;
  }
}
