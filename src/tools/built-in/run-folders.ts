import { hash } from 'node:crypto';
import { chmod, mkdir, utimes } from 'node:fs/promises';
import path from 'node:path';
import { conversationKey, type Conversation } from '../../core/conversation.ts';
import type { Skill } from '../../core/skill.ts';
import type { FileScope, FileScopes } from './file-scopes.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';

/** Folders of the host that the tools of one run see. */
export type RunFolders = Readonly<{
  /** Of this run alone, gone when it ends. */
  scratch: string;
  /** Of its conversation: kept between runs, never another's (T10). */
  chat: string;
}>;

/** Where the folders of all conversations, and of all runs, are. */
export const chatFolders = (workspace: string): string => path.join(workspace, 'chats');
export const scratchFolders = (workspace: string): string => path.join(workspace, 'runs');

/** Where a run's folders are. `conversation` is the one under its chat's first id (A6). */
export function runFolders(workspace: string, conversation: Conversation, runId: string): RunFolders {
  return { scratch: path.join(scratchFolders(workspace), runId), chat: chatFolder(workspace, conversation) };
}

/** The folder of a conversation (T10); its name tells nothing of the chat. */
export function chatFolder(workspace: string, conversation: Conversation): string {
  return path.join(chatFolders(workspace), chatFolderName(conversationKey(conversation)));
}

/** What the file tools of a run see, under the names that its commands know and under the usual ones (T13). */
export function runScopes(
  { scratch, chat }: RunFolders,
  skill: Skill,
  sandbox: Pick<Sandbox, 'seen'>,
): FileScopes {
  return [
    { kind: 'scratch', seen: namesOf(sandbox, 'scratch', scratch), host: scratch },
    { kind: 'chat', seen: namesOf(sandbox, 'chat', chat), host: chat },
    ...(skill.directory === undefined
      ? []
      : [{ kind: 'skill' as const, seen: namesOf(sandbox, 'skill', skill.directory), skill }]),
  ];
}

/** What those of the main agent see: there is no run, so only the conversation's folder. */
export function turnScopes(chat: string, sandbox: Pick<Sandbox, 'seen'>): FileScopes {
  return [{ kind: 'chat', seen: namesOf(sandbox, 'chat', chat), host: chat }];
}

function namesOf(
  sandbox: Pick<Sandbox, 'seen'>,
  folder: 'scratch' | 'chat' | 'skill',
  host: string,
): FileScope['seen'] {
  const name = sandbox.seen(folder, host);
  return name === `/${folder}` ? [name] : [name, `/${folder}`];
}

/** By the conversation's key. Those of a chat's threads begin with that of the chat and a dash. */
export function chatFolderName(key: string): string {
  const [room = '', thread] = key.split('/');
  const name = digest(room);
  return thread === undefined ? name : `${name}-${digest(thread).slice(0, 16)}`;
}

/** Makes the folders (0700) where they are not there, and notes that the conversation's is in use. */
export async function makeRunFolders({ scratch, chat }: RunFolders): Promise<void> {
  for (const folder of [scratch, chat]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // A command before may have closed it to everybody.
    await chmod(folder, 0o700);
  }
  await utimes(chat, new Date(), new Date());
}

function digest(text: string): string {
  return hash('sha256', text).slice(0, 32);
}
