import { conversationKey } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import type { Inbox, ListedItem } from '../stores/inbox.ts';

/** The work of a conversation, whichever process does it (Q9). */
export type WorkHere = Readonly<{
  /** Being answered, or to be gone on with after a crash. */
  running: readonly ListedItem[];
  /** Waiting for its turn, its next try or the rest of an album. */
  waiting: readonly ListedItem[];
}>;

/**
 * What is under way where a command was given. A command from outside the threads of a chat (a Slack slash command has
 * none) means the sender's own work in every thread of it, too (I1).
 */
export async function workHere(
  { conversation, sender }: Pick<Message, 'conversation' | 'sender'>,
  inbox: Pick<Inbox, 'waitingIn'>,
): Promise<WorkHere> {
  const here = conversationKey(conversation);
  const isThread = ({ lane }: ListedItem): boolean => lane.startsWith(`${here}/`);
  const items = (await inbox.waitingIn(here)).filter(
    (item) => !isThread(item) || item.message?.sender.id === sender.id,
  );
  return {
    running: items.filter(({ takenAt }) => takenAt !== undefined),
    waiting: items.filter(({ takenAt }) => takenAt === undefined),
  };
}

/** Background runs that belong to this very conversation (U9). */
export async function tasksHere(
  { conversation }: Pick<Message, 'conversation'>,
  inbox: Pick<Inbox, 'waitingIn'>,
): Promise<readonly ListedItem[]> {
  const here = `${conversationKey(conversation)}~`;
  return (await inbox.waitingIn(conversationKey(conversation))).filter(({ lane }) => lane.startsWith(here));
}

/** Runs that were begun for this person, in whatever conversation. */
export async function ownRuns(sender: string, inbox: Pick<Inbox, 'beside'>): Promise<readonly ListedItem[]> {
  return (await inbox.beside()).filter(({ message }) => message?.sender.id === sender);
}

/** The id of the background run that an item is. */
export function taskId({ message }: ListedItem): string | undefined {
  return message?.task?.id;
}
