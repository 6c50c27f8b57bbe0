import type { Entry } from '../core/entry.ts';
import type { Message } from '../core/message.ts';
import { fixed } from '../core/texts/say.ts';

/**
 * Whether `/new` may put a conversation's memory aside: in a direct message always; in a group for the owner, or for a
 * sender when nobody else has spoken with the bot since the last `/new` (I3). `entries` are those of the transcript in use.
 */
export function canReset(
  { chatType, sender }: Pick<Message, 'chatType' | 'sender'>,
  isOwner: boolean,
  entries: readonly Entry[],
): boolean {
  if (chatType === 'private' || isOwner) return true;
  return entries.every((entry) => {
    // A summary stands for turns that are not among the entries any more.
    if (entry.kind === 'summary') return entry.senders?.every((id) => id === sender.id) ?? false;
    return entry.kind !== 'user' || entry.sender === undefined || entry.sender === sender.id;
  });
}

/** What a person hears who may not. */
export const cannotReset = fixed`Others have talked with me here too, so only an owner can start a new conversation. In a direct message you always can.`;
