import { Keyv, keyvStorageCapability, type KeyvStorageAdapter } from 'keyv';
import type { Log } from '../../lib/log.ts';
import type { Connection } from './open-connection.ts';

type Row = Readonly<{ key: string; value: string; valid: number }>;
type Methods = Pick<
  KeyvStorageAdapter,
  'get' | 'getMany' | 'has' | 'hasMany' | 'set' | 'setMany' | 'delete' | 'deleteMany' | 'clear' | 'iterator'
>;

/** Keyv on the embedded store's own database (Q8). A failed read or write rejects; a damaged value counts as missing and is reported. */
export function createKeyed(connection: Connection, log: Log): (namespace: string) => Keyv {
  const live = 'FROM keyed WHERE namespace = ? AND (expires_at IS NULL OR expires_at > ?)';
  const one = connection.prepare<Row>(`SELECT key, value, json_valid(value) AS valid ${live} AND key = ?`);
  const every = connection.prepare<Row>(`SELECT key, value, json_valid(value) AS valid ${live} ORDER BY key`);
  const put = connection.prepare(
    `INSERT INTO keyed (namespace, key, value, expires_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`,
  );
  const remove = connection.prepare('DELETE FROM keyed WHERE namespace = ? AND key = ?');
  const clear = connection.prepare('DELETE FROM keyed WHERE namespace = ?');

  return (namespace) => {
    function read(row: Row | undefined): string | undefined {
      if (row === undefined || row.valid === 1) return row?.value;
      log.warn({ namespace, key: row.key }, 'a stored value is damaged and counts as missing');
      return undefined;
    }
    const find = (key: string) => read(one.get(namespace, Date.now(), key));
    const store = (key: string, value: unknown, expires: number | undefined) =>
      put.run(namespace, key, String(value), expires ?? null) > 0;
    const drop = (key: string) => remove.run(namespace, key) > 0;

    const methods: Methods = {
      get: async (key) => find(key),
      getMany: async (keys) => keys.map(find),
      has: async (key) => find(key) !== undefined,
      hasMany: async (keys) => keys.map((key) => find(key) !== undefined),
      set: async (key, value, expires) => connection.write('process', () => store(key, value, expires)),
      setMany: async (rows) =>
        connection.write('process', () => rows.map(({ key, value, expires }) => store(key, value, expires))),
      delete: async (key) => connection.write('process', () => drop(key)),
      deleteMany: async (keys) => connection.write('process', () => keys.map(drop)),
      async clear() {
        connection.write('process', () => clear.run(namespace));
      },
      async *iterator() {
        for (const row of every.all(namespace, Date.now())) {
          const value = read(row);
          if (value !== undefined) yield [row.key, value];
        }
      },
    };
    return new Keyv({ store: { ...methods, capabilities: keyvStorageCapability(methods) } });
  };
}
