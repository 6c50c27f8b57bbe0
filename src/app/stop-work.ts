import type { Message } from '../core/message.ts';
import type { ListedItem, Store } from '../stores/store.ts';
import type { Approvals } from './approvals.ts';
import { inlineCode } from './inline-code.ts';
import { takeDown } from './take-down.ts';
import { taskId, tasksHere, workHere } from './work-here.ts';

/** `/stop TASK` (U9): stops one background run of this conversation, by the start of its id. */
export async function stopTask(
  message: Pick<Message, 'conversation' | 'sender' | 'chatType'>,
  id: string,
  options: Parameters<typeof stopWork>[1],
): Promise<string> {
  const { isOwner, store } = options;
  const named = (await tasksHere(message, store.inbox)).filter((item) => taskId(item)?.startsWith(id));
  const [item] = named;
  if (item === undefined) return `There is no background run ${inlineCode(id)} here: /tasks lists them.`;
  if (!maySay(message, isOwner, item)) return 'Only who began it or the owner can stop it.';
  const stopped = await store.inbox.stop(item.key);
  if (stopped === 'stopping') await store.signals.send('stop', item.key);
  return stopped === 'none' ? 'It has just ended.' : 'Stopping.';
}

/**
 * `/stop` (Q4, I3): drops what waits here, cancels what runs, in whatever process, and says what happened. In a group
 * everybody but the owner stops their own work only.
 */
export async function stopWork(
  message: Pick<Message, 'conversation' | 'sender' | 'chatType'>,
  options: Readonly<{
    isOwner: boolean;
    store: Pick<Store, 'inbox' | 'outbox' | 'signals' | 'commit'>;
    approvals: Pick<Approvals, 'cancel'>;
  }>,
): Promise<string> {
  const { isOwner, store, approvals } = options;
  const { inbox, signals } = store;
  const everybody = isOwner || message.chatType === 'private';
  await approvals.cancel(message.conversation, everybody ? undefined : message.sender.id);
  const may = (item: ListedItem): boolean => maySay(message, isOwner, item);

  let dropped = 0;
  let stopping = 0;
  const { running, waiting } = await workHere(message, inbox);
  // What waits goes first: otherwise the next of it would begin when what runs has ended.
  for (const item of [...waiting, ...running].filter(may)) {
    const stopped = await inbox.stop(item.key);
    if (stopped === 'dropped') {
      dropped += 1;
      // It may have been begun before, and wait for its next try.
      await takeDown(item, store);
    }
    if (stopped !== 'stopping') continue;
    stopping += 1;
    await signals.send('stop', item.key);
  }

  const left = `${dropped} waiting message${dropped === 1 ? '' : 's'}`;
  if (stopping > 0) return dropped === 0 ? 'Stopping.' : `Stopping, and leaving out ${left}.`;
  const others = running.find((item) => !may(item));
  if (others !== undefined) {
    const refusal = `Only ${inlineCode(others.message?.sender.name ?? 'its sender')} or the owner can stop what runs here.`;
    return dropped === 0 ? refusal : `Leaving out ${left}. ${refusal}`;
  }
  return dropped === 0 ? 'Nothing is running here.' : `Nothing was running; leaving out ${left}.`;
}

function maySay(
  { chatType, sender }: Pick<Message, 'sender' | 'chatType'>,
  isOwner: boolean,
  item: ListedItem,
): boolean {
  return isOwner || chatType === 'private' || item.message?.sender.id === sender.id;
}
