import type { Clock } from '../../lib/clock.ts';
import type { Connection } from './open-connection.ts';
import type { Store, Use, UsageRow } from '../store.ts';

type Row = Readonly<{
  day: string;
  sender: string;
  conversation: string;
  skill: string;
  model: string;
  requests: number;
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
}>;

/** Sums of tokens on the embedded store. `add` belongs inside a step's transaction. */
export function createUsage(
  connection: Connection,
): Readonly<{ usage: Store['usage']; add(use: Use): void }> {
  const insert = connection.prepare(
    `INSERT INTO usage (day, sender, conversation, skill, model, requests, input, output, cache_read, cache_write)
     VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?)
     ON CONFLICT (day, sender, conversation, skill, model) DO UPDATE SET requests = requests + 1,
       input = input + excluded.input, output = output + excluded.output,
       cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write`,
  );
  const order = 'ORDER BY day, sender, conversation, skill, model';
  const ofDays = connection.prepare<Row>(`SELECT * FROM usage WHERE day >= ? AND day <= ? ${order}`);
  const ofSender = connection.prepare<Row>(
    `SELECT * FROM usage WHERE day >= ? AND day <= ? AND sender = ? ${order}`,
  );
  return {
    add({ day, sender, conversation, skill, model, tokens }) {
      const { input, output, cacheRead, cacheWrite } = tokens;
      insert.run(day, sender, conversation, skill, model, input, output, cacheRead, cacheWrite);
    },
    async usage({ day, sender }) {
      // Every day lies between nothing and "9".
      const days = [day ?? '', day ?? '9'] as const;
      return (sender === undefined ? ofDays.all(...days) : ofSender.all(...days, sender)).map(toUsage);
    },
  };
}

function toUsage({ input, output, cache_read, cache_write, ...row }: Row): UsageRow {
  return { ...row, tokens: { input, output, cacheRead: cache_read, cacheWrite: cache_write } };
}

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
