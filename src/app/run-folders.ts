import { createHash } from 'node:crypto';
import path from 'node:path';
import { conversationKey, type Conversation } from '../core/conversation.ts';

/** Folders of the host that the tools of one run see. */
export type RunFolders = Readonly<{
  /** Of this run alone, gone when it ends. */
  scratch: string;
  /** Of its conversation: kept between runs, never another's (T10). */
  chat: string;
}>;

/** Where a run's folders are; the conversation folder's name tells nothing of the chat. */
export function runFolders(workspace: string, conversation: Conversation, runId: string): RunFolders {
  const chat = createHash('sha256').update(conversationKey(conversation)).digest('hex').slice(0, 32);
  return { scratch: path.join(workspace, 'runs', runId), chat: path.join(workspace, 'chats', chat) };
}
