import { conversationKey } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import type { Log } from '../lib/log.ts';
import type { Sql } from './sql.ts';
import { readStored } from './stored-json.ts';
import { storedMessage } from './stored-message.ts';

/** Group messages that were not meant for the bot, kept as context for later turns (M10). */
export type GroupContext = Readonly<{
  add(message: Message, now: number): Promise<void>;
  remove(id: string): Promise<void>;
  /** The newest `limit` messages since `since`, oldest first. */
  recent(conversationKey: string, limit: number, since: number): Promise<readonly Message[]>;
}>;

export function createGroupContext(sql: Sql, log: Log): GroupContext {
  const insert = sql.statement(
    `INSERT INTO group_context (key, conversation, message, heard_at) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (key) DO NOTHING`,
  );
  const remove = sql.statement('DELETE FROM group_context WHERE key = ?1');
  const newest = sql.statement<Readonly<{ key: string; message: string }>>(
    'SELECT key, message FROM group_context WHERE conversation = ?1 AND heard_at >= ?2 ORDER BY seq DESC LIMIT ?3',
  );

  return {
    async add(message, now) {
      const conversation = conversationKey(message.conversation);
      await sql.write('process', insert(message.id, conversation, JSON.stringify(message), now));
    },
    async remove(id) {
      await sql.write('process', remove(id));
    },
    async recent(conversation, limit, since) {
      const rows = await sql.read(newest(conversation, since, limit));
      return rows.toReversed().flatMap(({ key, message }) => {
        const stored = readStored(storedMessage, message);
        if (stored.ok) return [stored.value];
        log.warn(
          { message: key, reason: stored.reason },
          'a message of the group context is damaged and was left out',
        );
        return [];
      });
    },
  };
}
