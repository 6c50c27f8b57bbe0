import { conversationKey } from '../../core/conversation.ts';
import type { Log } from '../../lib/log.ts';
import { readOverheard, type OverheardRow, type GroupContext } from '../group-context.ts';
import type { Connection } from './open-connection.ts';

/** Overheard messages on the embedded store (M10). A damaged one is left out and reported. */
export function createOverheard(connection: Connection, log: Log): GroupContext {
  const insert = connection.prepare(
    `INSERT INTO overheard (key, conversation, message, heard_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (key) DO NOTHING`,
  );
  const remove = connection.prepare('DELETE FROM overheard WHERE key = ?');
  const newest = connection.prepare<OverheardRow>(
    `SELECT key, message FROM overheard WHERE conversation = ? AND heard_at >= ? ORDER BY seq DESC LIMIT ?`,
  );

  return {
    async add(message, now) {
      const lane = conversationKey(message.conversation);
      connection.write('process', () => insert.run(message.id, lane, JSON.stringify(message), now));
    },
    async remove(id) {
      connection.write('process', () => remove.run(id));
    },
    recent: async (conversation, limit, since) =>
      readOverheard(newest.all(conversation, since, limit).toReversed(), log),
  };
}
