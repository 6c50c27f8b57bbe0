import type { Message } from '../core/message.ts';

/** Messages that the bot saw and was not meant by: background for a later turn (M10). */
export type Overheard = Readonly<{
  /** A message that is there already is left as it is. */
  add(message: Message, now: number): Promise<void>;
  /** Forgets a message by its id; one that is not there is no mistake. */
  remove(id: string): Promise<void>;
  /** Newest `limit` messages of a conversation since `since`, oldest first. */
  recent(conversationKey: string, limit: number, since: number): Promise<readonly Message[]>;
}>;
