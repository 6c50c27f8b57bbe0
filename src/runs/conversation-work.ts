import { conversationKey } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import type { Inbox, ListedItem } from '../store/inbox.ts';

/** The work of a conversation, whichever process does it (Q9). */
export type WorkHere = Readonly<{
  /** Being answered, or to be gone on with after a crash. */
  running: readonly ListedItem[];
  /** Waiting for its turn, its next try or the rest of an album. */
  waiting: readonly ListedItem[];
}>;

/** A command, as far as it says where it was given. */
export type Given = Pick<Message, 'conversation' | 'sender' | 'platformId'>;

/**
 * What is under way where a command was given. A command from outside the threads of a chat (a Slack slash command has
 * none), or one that begins a thread, means the sender's own work in every thread of it, too (I1).
 */
export async function workHere(given: Given, inbox: Pick<Inbox, 'waitingIn'>): Promise<WorkHere> {
  const items = await itemsHere(given, inbox);
  return {
    running: items.filter(({ takenAt }) => takenAt !== undefined),
    waiting: items.filter(({ takenAt }) => takenAt === undefined),
  };
}

/** Background runs that belong to where a command was given (U9): the same conversations as of `workHere`. */
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

/** Runs that were started for this person, in whatever conversation. */
export async function ownRuns(sender: string, inbox: Pick<Inbox, 'beside'>): Promise<readonly ListedItem[]> {
  return (await inbox.beside()).filter(({ message }) => message?.sender.id === sender);
}

/** The id of the background run that an item is. */
export function taskId({ message }: ListedItem): string | undefined {
  return message?.task?.id;
}
