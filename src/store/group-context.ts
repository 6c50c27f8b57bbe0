import type { Message } from '../core/message.ts';
import type { Log } from '../lib/log.ts';
import { readStored } from './stored-json.ts';
import { storedMessage } from './stored-message.ts';

/** Messages that the bot saw and was not meant by: background for a later turn (M10). */
export type GroupContext = Readonly<{
  /** A message that is there already is left as it is. */
  add(message: Message, now: number): Promise<void>;
  /** Forgets a message by its id; one that is not there is no mistake. */
  remove(id: string): Promise<void>;
  /** Newest `limit` messages of a conversation since `since`, oldest first. */
  recent(conversationKey: string, limit: number, since: number): Promise<readonly Message[]>;
}>;

/** What is read of an overheard message. */
export type OverheardRow = Readonly<{ key: string; message: string }>;

/** The messages of rows. A damaged one is left out and reported (Q11). */
export function readOverheard(rows: readonly OverheardRow[], log: Log): readonly Message[] {
  return rows.flatMap(({ key, message }) => {
    const stored = readStored(storedMessage, message);
    if (stored.ok) return [stored.value];
    log.warn({ message: key, reason: stored.reason }, 'an overheard message is damaged and was left out');
    return [];
  });
}
