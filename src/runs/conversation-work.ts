import { conversationKey } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import type { Inbox, ListedItem } from '../store/inbox.ts';

export type WorkHere = Readonly<{
  /** Includes what continues after a crash. */
  running: readonly ListedItem[];
  /** Waiting for its turn, its next try or the rest of an album. */
  waiting: readonly ListedItem[];
}>;

export type Given = Pick<Message, 'conversation' | 'sender' | 'platformId'>;

/**
 * Work where a command was given. Outside a thread, or beginning one, that includes the sender's own work in every
 * thread of the chat (I1).
 */
export async function workHere(given: Given, inbox: Pick<Inbox, 'waitingIn'>): Promise<WorkHere> {
  const items = await itemsHere(given, inbox);
  return {
    running: items.filter(({ takenAt }) => takenAt !== undefined),
    waiting: items.filter(({ takenAt }) => takenAt === undefined),
  };
}

/** Background runs of the same conversations as `workHere` (U9). */
export async function tasksHere(
  given: Given,
  inbox: Pick<Inbox, 'waitingIn'>,
): Promise<readonly ListedItem[]> {
  const here = `${placeOf(given)}~`;
  const items = await itemsHere(given, inbox);
  return items.filter(({ lane, message }) => lane.startsWith(here) || message?.task?.kind === 'run');
}

async function itemsHere(given: Given, inbox: Pick<Inbox, 'waitingIn'>): Promise<readonly ListedItem[]> {
  const here = placeOf(given);
  const isThread = ({ lane }: ListedItem): boolean => lane.startsWith(`${here}/`);
  return (await inbox.waitingIn(here)).filter(
    (item) => !isThread(item) || item.message?.sender.id === given.sender.id,
  );
}

function placeOf({ conversation, platformId }: Given): string {
  const { thread, ...chat } = conversation;
  return conversationKey(thread !== undefined && thread === platformId ? chat : conversation);
}

export async function ownRuns(sender: string, inbox: Pick<Inbox, 'beside'>): Promise<readonly ListedItem[]> {
  return (await inbox.beside()).filter(({ message }) => message?.sender.id === sender);
}

export function taskId({ message }: ListedItem): string | undefined {
  return message?.task?.id;
}
