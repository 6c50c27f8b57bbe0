import { conversationKey } from '../core/conversation.ts';
import type { Actor, Message } from '../core/message.ts';
import type { StopOrder, Store } from '../store/store.ts';
import type { Inbox, ListedItem } from '../store/inbox.ts';
import { cancelWork } from '../runs/tasks.ts';
import { inlineCode } from '../lib/text/text.ts';
import { removePlaceholder } from './placeholder.ts';
import { fixed, sayIn, type Say } from '../core/texts/say.ts';

/** Stops one background run, named by the start of its id (U9). Returns what to say. */
export async function stopTask(
  message: Message,
  id: string,
  options: Parameters<typeof stopWork>[1],
  tasksCommand: string,
): Promise<string> {
  const { isOwner, store } = options;
  const named = (await tasksHere(message, store.inbox)).filter((item) => taskId(item)?.startsWith(id));
  const [item] = named;
  const say = sayIn(message.sender.language);
  if (item === undefined)
    return say`There is no background run ${inlineCode(id)} here. ${tasksCommand} lists them.`;
  if (!maySay(message, isOwner, item)) return say`Only the person who started it or an owner can stop it.`;
  return haltRun(item, store, say);
}

export async function stopOwnRun(
  { id: sender, language }: Message['sender'],
  id: string,
  store: Store,
): Promise<string> {
  const say = sayIn(language);
  const item = (await ownRuns(sender, store.inbox)).find((run) => taskId(run) === id);
  return item === undefined ? say(justFinished) : haltRun(item, store, say);
}

async function haltRun({ key }: ListedItem, store: Store, say: Say): Promise<string> {
  const { dropped, stopping } = await cancelWork(store, { items: [key] });
  return say(dropped.length + stopping.length === 0 ? justFinished : stoppingNow);
}

/**
 * Drops waiting items and cancels running ones (Q4, I3). In groups only the sender's, unless an owner asks. Returns
 * what to say; empty if the stopped answer itself says so.
 */
export async function stopWork(
  message: Message,
  options: Readonly<{
    isOwner: boolean;
    store: Store;
    /** Called with the ids of the pending requests that were cancelled. */
    onStopped(cancelled: readonly string[]): Promise<void>;
  }>,
): Promise<string> {
  const { isOwner, store, onStopped } = options;
  const may = (item: ListedItem): boolean => maySay(message, isOwner, item);
  const { running, waiting } = await workHere(message, store.inbox);
  const theirs = [...waiting, ...running].filter(may);
  const stopped = await cancelWork(store, {
    items: theirs.map(({ key }) => key),
    pendingRequests: requestsOf(message, isOwner, theirs),
  });
  await onStopped(stopped.cancelled);
  // A dropped item may have waited for a retry, and then its placeholder is still shown.
  for (const item of theirs.filter(({ key }) => stopped.dropped.includes(key)))
    await removePlaceholder(item, store);

  const say = sayIn(message.sender.language);
  const dropped = stopped.dropped.length;
  const cancelled =
    dropped === 1 ? say`I cancelled 1 waiting message.` : say`I cancelled ${dropped} waiting messages.`;
  if (stopped.stopping.length > 0) {
    const here = conversationKey(message.conversation);
    const saysSo = running.some(({ key, queue }) => queue === here && stopped.stopping.includes(key));
    return [...(saysSo ? [] : [say(stoppingNow)]), ...(dropped === 0 ? [] : [cancelled])].join(' ');
  }
  const others = running.find((item) => !may(item));
  if (others !== undefined) {
    const refusal = notTheirs(others, say);
    return dropped === 0 ? refusal : `${cancelled} ${refusal}`;
  }
  return dropped === 0 ? say`Nothing is running here.` : say`Nothing was running. ${cancelled}`;
}

const stoppingNow = fixed`Stopping.`;
export const justFinished = fixed`It has just finished.`;

export function notTheirs({ message }: ListedItem, say: Say): string {
  return say`Only ${inlineCode(message?.sender.name ?? '?')} or an owner can stop what is running here.`;
}

function requestsOf(
  { conversation, sender, chatType }: Message,
  isOwner: boolean,
  items: readonly ListedItem[],
): NonNullable<StopOrder['pendingRequests']> {
  const here = conversationKey(conversation);
  const everybody = isOwner || chatType === 'private';
  const threads = new Map(
    items.flatMap(({ message }) =>
      message === undefined ? [] : [[conversationKey(message.conversation), message.conversation] as const],
    ),
  );
  threads.delete(here);
  return [
    { conversation, requester: everybody ? undefined : sender.id },
    ...[...threads.values()].map((thread) => ({ conversation: thread, requester: sender.id })),
  ];
}

export function maySay({ chatType, sender }: Actor, isOwner: boolean, item: ListedItem): boolean {
  return isOwner || chatType === 'private' || item.message?.sender.id === sender.id;
}

type Given = Pick<Message, 'conversation' | 'sender' | 'platformId'>;

/**
 * What runs and waits in this chat. Outside of threads this includes the sender's work in all threads of the chat (I1).
 */
export async function workHere(
  given: Given,
  inbox: Inbox,
): Promise<Readonly<{ running: readonly ListedItem[]; waiting: readonly ListedItem[] }>> {
  const items = await itemsHere(given, inbox);
  return {
    running: items.filter(({ takenAt }) => takenAt !== undefined),
    waiting: items.filter(({ takenAt }) => takenAt === undefined),
  };
}

export async function tasksHere(given: Given, inbox: Inbox): Promise<readonly ListedItem[]> {
  const here = `${placeOf(given)}~`;
  const items = await itemsHere(given, inbox);
  return items.filter(({ queue, message }) => queue.startsWith(here) || message?.task?.kind === 'run');
}

async function itemsHere(given: Given, inbox: Inbox): Promise<readonly ListedItem[]> {
  const here = placeOf(given);
  const isThread = ({ queue }: ListedItem): boolean => queue.startsWith(`${here}/`);
  return (await inbox.waitingIn(here)).filter(
    (item) => !isThread(item) || item.message?.sender.id === given.sender.id,
  );
}

function placeOf({ conversation, platformId }: Given): string {
  const { thread, ...chat } = conversation;
  return conversationKey(thread !== undefined && thread === platformId ? chat : conversation);
}

export async function ownRuns(sender: string, inbox: Inbox): Promise<readonly ListedItem[]> {
  return (await inbox.beside()).filter(({ message }) => message?.sender.id === sender);
}

export function taskId({ message }: ListedItem): string | undefined {
  return message?.task?.id;
}
