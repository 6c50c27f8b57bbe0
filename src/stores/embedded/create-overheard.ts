import { conversationKey } from '../../core/conversation.ts';
import type { Log } from '../../core/log.ts';
import type { Message } from '../../core/message.ts';
import type { Overheard } from '../store.ts';
import { readStored } from '../stored-json.ts';
import { storedMessage } from '../stored-message.ts';
import type { Connection } from './open-connection.ts';

/** Overheard messages on the embedded store (M10). A damaged one is left out and reported. */
export function createOverheard(connection: Connection, log: Log): Overheard {
  const insert = connection.prepare(
    `INSERT INTO overheard (key, conversation, message, heard_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (key) DO NOTHING`,
  );
  const newest = connection.prepare<Readonly<{ key: string; message: string }>>(
    `SELECT key, message FROM overheard WHERE conversation = ? AND heard_at >= ? ORDER BY seq DESC LIMIT ?`,
  );

  function read({ key, message }: { key: string; message: string }): Message[] {
    const stored = readStored(storedMessage, message);
    if (stored.ok) return [stored.value];
    log.warn({ message: key, reason: stored.reason }, 'an overheard message is damaged and was left out');
    return [];
  }

  return {
    async add(message, now) {
      const lane = conversationKey(message.conversation);
      connection.write('process', () => insert.run(message.id, lane, JSON.stringify(message), now));
    },
    recent: async (conversation, limit, since) =>
      newest.all(conversation, since, limit).toReversed().flatMap(read),
  };
}
