import { conversationKey } from '../../core/conversation.ts';
import type { Log } from '../../lib/log.ts';
import { readOverheard, type OverheardRow, type GroupContext } from '../group-context.ts';
import type { Database } from './open-database.ts';

/** Overheard messages on PostgreSQL (M10). A damaged one is left out and reported. */
export function createOverheard({ query }: Database, log: Log): GroupContext {
  return {
    async add(message, now) {
      await query(
        `INSERT INTO skillet.overheard (key, conversation, message, heard_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (key) DO NOTHING`,
        [message.id, conversationKey(message.conversation), JSON.stringify(message), now],
      );
    },
    async remove(id) {
      await query('DELETE FROM skillet.overheard WHERE key = $1', [id]);
    },
    async recent(conversation, limit, since) {
      const { rows } = await query<OverheardRow>(
        `SELECT key, message FROM skillet.overheard WHERE conversation = $1 AND heard_at >= $2
         ORDER BY seq DESC LIMIT $3`,
        [conversation, since, limit],
      );
      return readOverheard(rows.toReversed(), log);
    },
  };
}
