import { Keyv, keyvStorageCapability, type KeyvStorageAdapter } from 'keyv';
import type { Log } from '../lib/log.ts';
import { each, type Sql } from './sql.ts';

type Row = Readonly<{ key: string; value: string; expires_at: number | null }>;
type Entry = Readonly<{ key: string; value: unknown; expires?: number }>;
type Methods = Pick<
  KeyvStorageAdapter,
  'get' | 'getMany' | 'has' | 'hasMany' | 'set' | 'setMany' | 'delete' | 'deleteMany' | 'clear' | 'iterator'
>;

const most = 1_000;

/** Returns Keyv on the store's database (Q8). Failures reject. A damaged value counts as missing and is logged. */
export function createKeyed(sql: Sql, log: Log): (namespace: string) => Keyv {
  const one = sql.lookup<Row>('SELECT key, value, expires_at FROM keyed WHERE namespace = ?1 AND key = ?2', {
    most,
  });
  const every = sql.statement<Row>(
    'SELECT key, value, expires_at FROM keyed WHERE namespace = ?1 ORDER BY key',
  );
  const put = sql.statement(
    `INSERT INTO keyed (namespace, key, value, expires_at) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`,
  );
  const remove = sql.statement('DELETE FROM keyed WHERE namespace = ?1 AND key = ?2');
  const clear = sql.statement('DELETE FROM keyed WHERE namespace = ?1');

  return (namespace) => {
    function readable({ key, value, expires_at }: Row): boolean {
      if (expires_at !== null && expires_at <= Date.now()) return false;
      if (isJson(value)) return true;
      log.warn({ namespace, key }, 'a stored value is damaged and counts as missing');
      return false;
    }

    const find = async (key: string) => (await one(namespace, key)).find(readable)?.value;
    const has = async (key: string) => (await find(key)) !== undefined;

    async function store(entries: readonly Entry[]): Promise<boolean[]> {
      // All writers use one order, which prevents deadlocks.
      const sorted = entries.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
      const puts = sorted.map(({ key, value, expires }) =>
        put(namespace, key, String(value), expires ?? null),
      );
      await sql.write('server', each(puts));
      return entries.map(() => true);
    }

    async function drop(keys: readonly string[]): Promise<boolean[]> {
      const removed = await sql.write('server', each(keys.map((key) => remove(namespace, key))));
      return removed.map(({ changed }) => changed > 0);
    }

    const methods: Methods = {
      get: find,
      getMany: (keys) => Promise.all(keys.map(find)),
      has,
      hasMany: (keys) => Promise.all(keys.map(has)),
      set: async (key, value, expires) => (await store([{ key, value, expires }]))[0] ?? false,
      setMany: store,
      delete: async (key) => (await drop([key]))[0] ?? false,
      deleteMany: drop,
      async clear() {
        await sql.write('server', clear(namespace));
      },
      async *iterator() {
        for (const row of await sql.read(every(namespace))) if (readable(row)) yield [row.key, row.value];
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
    // Not logged, because the parser's message quotes the text.
    return false;
  }
}
