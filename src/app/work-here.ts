import { conversationKey } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import type { Inbox, ListedItem } from '../stores/store.ts';
import type { Lanes, RunningItem } from './lanes.ts';

type Asker = Pick<Message, 'conversation' | 'sender'>;

/**
 * Whether an item is work of the conversation that a command was given in. A command from outside the threads of a chat
 * (a Slack slash command has none) means the sender's own work in every thread of it, too (I1).
 */
function isHere({ conversation, sender }: Asker, { lane, message }: ListedItem): boolean {
  const here = conversationKey(conversation);
  if (lane === here) return true;
  return conversation.thread === undefined && lane.startsWith(`${here}/`) && message?.sender.id === sender.id;
}

/** What is being answered here. */
export function runningHere(asker: Asker, lanes: Pick<Lanes, 'all'>): readonly RunningItem[] {
  return lanes.all().filter(({ item }) => isHere(asker, item));
}

/** What waits here and does not run: for its turn, its next try or the rest of an album. */
export async function waitingHere(
  asker: Asker,
  inbox: Pick<Inbox, 'list'>,
  lanes: Pick<Lanes, 'all'>,
): Promise<readonly ListedItem[]> {
  const waiting = await inbox.list('waiting');
  const taken = new Set(lanes.all().map(({ item }) => item.key));
  return waiting.filter((item) => isHere(asker, item) && !taken.has(item.key));
}
