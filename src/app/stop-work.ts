import type { Message } from '../core/message.ts';
import type { Inbox, ListedItem } from '../stores/store.ts';
import { inlineCode } from './inline-code.ts';
import type { Lanes } from './lanes.ts';
import { runningHere, waitingHere } from './work-here.ts';

/**
 * `/stop` (Q4, I3): drops what waits here, then cancels what runs, and says what happened. In a group everybody but the
 * owner stops their own work only.
 */
export async function stopWork(
  message: Message,
  options: Readonly<{ isOwner: boolean; inbox: Pick<Inbox, 'list' | 'drop'>; lanes: Pick<Lanes, 'all'> }>,
): Promise<string> {
  const { isOwner, inbox, lanes } = options;
  const may = (item: ListedItem): boolean =>
    isOwner || message.chatType === 'private' || item.message?.sender.id === message.sender.id;

  let dropped = 0;
  for (const item of await waitingHere(message, inbox, lanes)) {
    if (may(item) && (await inbox.drop(item.key))) dropped += 1;
  }
  // Looked at only now: what was taken up before it could be dropped is among them.
  const running = runningHere(message, lanes);
  const mine = running.filter(({ item }) => may(item));
  for (const { cancel } of mine) cancel();

  const left = `${dropped} waiting message${dropped === 1 ? '' : 's'}`;
  if (mine.length > 0) return dropped === 0 ? 'Stopping.' : `Stopping, and leaving out ${left}.`;
  const [others] = running;
  if (others !== undefined) {
    const refusal = `Only ${inlineCode(others.item.message.sender.name)} or the owner can stop what runs here.`;
    return dropped === 0 ? refusal : `Leaving out ${left}. ${refusal}`;
  }
  return dropped === 0 ? 'Nothing is running here.' : `Nothing was running; leaving out ${left}.`;
}
