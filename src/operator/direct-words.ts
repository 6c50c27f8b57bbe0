import { direct } from '../core/operation.ts';
import { isShared } from '../core/conversation.ts';
import { skillOf } from '../core/message.ts';
import type { ListedItem } from '../store/inbox.ts';

/** A message that waits or has failed, as operators see it. */
export type Letter = Omit<ListedItem, 'message'> &
  Readonly<{
    /** The sender. Undefined if the message can't be read. */
    sender?: Readonly<{ id: string; name: string }>;
    hook?: string;
    skill?: string;
    text?: string;
  }>;

export function toLetter({ message, ...item }: ListedItem): Letter {
  if (message === undefined) return item;
  const { sender, task, text, ephemeral } = message;
  const isRead = isShared(message) && ephemeral !== true;
  return {
    ...item,
    sender: { id: sender.id, name: sender.name },
    hook: task?.kind === 'hook' ? task.name : undefined,
    skill: skillOf(task),
    text: isRead ? text : `${direct} ${text.length} characters`,
  };
}
