import type { Entry } from '../core/entry.ts';
import type { Message } from '../core/message.ts';
import { fixed } from '../core/texts/say.ts';

/**
 * Whether `/new` may archive a conversation: in a direct message always; in a group for an owner, or for a sender
 * with whom nobody else has shared it since the last `/new` (I3).
 */
export function canReset(
  { chatType, sender }: Pick<Message, 'chatType' | 'sender'>,
  isOwner: boolean,
  entries: readonly Entry[],
): boolean {
  if (chatType === 'private' || isOwner) return true;
  return entries.every((entry) => {
    if (entry.kind === 'summary') return entry.senders?.every((id) => id === sender.id) ?? false;
    return entry.kind !== 'user' || entry.sender === undefined || entry.sender === sender.id;
  });
}

export const cannotReset = fixed`Others have talked with me here too, so only an owner can start a new conversation. In a direct message you always can.`;
