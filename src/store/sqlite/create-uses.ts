import type { Clock } from '../../lib/clock.ts';
import type { Store } from '../store.ts';
import type { Connection } from './open-connection.ts';

/** `Store.countUse` on the embedded store. */
export function createUses(connection: Connection, clock: Clock): Store['countUse'] {
  const known = connection.prepare('SELECT 1 FROM uses WHERE key = ? AND id = ?');
  /** The use that has to pass out of sight before there is room. */
  const inTheWay = connection.prepare<Readonly<{ used_at: number }>>(
    'SELECT used_at FROM uses WHERE key = ? AND used_at > ? ORDER BY used_at DESC LIMIT 1 OFFSET ?',
  );
  const insert = connection.prepare(
    'INSERT INTO uses (key, id, used_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );

  return async (id, limits) =>
    connection.write('process', () => {
      const now = clock.now();
      for (const { key, most, ms } of limits) {
        if (known.get(key, id) !== undefined) continue;
        const use = inTheWay.get(key, now - ms, most - 1);
        if (use !== undefined) return { key, freeAt: use.used_at + ms };
      }
      for (const { key } of limits) insert.run(key, id, now);
      return undefined;
    });
}
