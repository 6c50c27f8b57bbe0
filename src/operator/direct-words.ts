import { textOf } from '../features/approvals/approval-question.ts';
import { conversationKey, isShared } from '../core/conversation.ts';
import { skillOf } from '../core/message.ts';
import type { ListedItem } from '../store/inbox.ts';
import type { PendingRequest } from '../store/pending-requests.ts';

/** What an operator sees in place of the words of a direct message (S8). */
export const direct = '(direct)';

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

/** A call that waits for approval, as operators see it. */
export type WaitingApproval = Pick<PendingRequest, 'id' | 'requester' | 'askedAt' | 'expiresAt'> &
  Readonly<{
    conversation: string;
    tool: string;
    skill: string;
    /** The call's input in Markdown; empty for a direct message. */
    input: string;
    isDirect: boolean;
    /** True if its requester can't approve it (T8). */
    fourEyes: boolean;
  }>;

export function toWaitingApproval(request: PendingRequest): WaitingApproval {
  const { id, requester, askedAt, expiresAt, conversation, payload } = request;
  const isDirect = isAskedDirectly(request);
  return {
    ...{ id, requester, askedAt, expiresAt, isDirect, fourEyes: payload['fourEyes'] === true },
    conversation: conversationKey(conversation),
    tool: textOf(payload['tool']),
    skill: textOf(payload['skill']),
    input: isDirect ? '' : textOf(payload['input']),
  };
}

/** Whether only its requester can read the question, so that nobody else can approve the call (S8). */
export function isAskedDirectly({ payload: { chatType } }: Pick<PendingRequest, 'payload'>): boolean {
  return !isShared({ chatType });
}

/** A line of the audit without the arguments of calls in direct messages (L6). */
export function withoutDirectArguments(line: string): string {
  if (!line.includes('"arguments":')) return line;
  const read = JSON.parse(line) as Readonly<Record<string, unknown>>;
  return isShared(read) || read['arguments'] === undefined
    ? line
    : JSON.stringify({ ...read, arguments: direct });
}
