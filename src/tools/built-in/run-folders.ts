import { hash } from 'node:crypto';
import { chmod, mkdir, utimes } from 'node:fs/promises';
import path from 'node:path';
import { conversationKey, type Conversation } from '../../core/conversation.ts';
import type { Skill, SkillFolder } from '../../core/skill.ts';
import { openInside } from '../../lib/files/open-inside.ts';
import { oneLine } from '../../lib/text/text.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { readSkillBytes } from '../../skills/skill-files.ts';

export type RunFolders = Readonly<{
  /** The run's own folder, deleted when the run ends. */
  scratch: string;
  /** The conversation's folder, kept between runs (T10). */
  chat: string;
}>;

export const chatGroup = 'chats';
export const scratchGroup = 'runs';

export const scratchFolders = (root: string): string => path.join(root, scratchGroup);

/**
 * The folders of a run. `conversation` has the first id that its chat had (A6). `restricted` are the skills of the run
 * that not everybody may use.
 */
export function runFolders(
  root: string,
  conversation: Conversation,
  { id, restricted }: Readonly<{ id: string; restricted: readonly string[] }>,
): RunFolders {
  return {
    scratch: path.join(scratchFolders(root), id),
    chat: ownFolder(chatFolder(root, conversation), restricted),
  };
}

/** The chat's folder for skills that not everybody in the chat may use. It lies beside the chat's own folder (S16). */
export function ownFolder(chat: string, restricted: readonly string[]): string {
  if (restricted.length === 0) return chat;
  return `${chat}-only-${digest([...restricted].sort().join(' ')).slice(0, 16)}`;
}

/** Whether a folder is the chat's, or one that holds a copy of it for restricted skills. */
export function isShownIn(folder: string, chat: string): boolean {
  return folder === chat || folder.startsWith(`${chat}-only-`);
}

/** Whether a folder belongs to a chat, or to one of its threads or restricted skills. */
export function isOfChat(folder: string, chat: string): boolean {
  return folder === chat || folder.startsWith(`${chat}-`);
}

/** The names that `Folders` has for the run's folders. */
export function namesOfRun({ scratch, chat }: RunFolders): readonly [scratch: string, chat: string] {
  return [`${scratchGroup}/${path.basename(scratch)}`, nameOfChat(chat)];
}

export function nameOfChat(chat: string): string {
  return `${chatGroup}/${path.basename(chat)}`;
}

/** Path of a conversation's folder. Its name reveals nothing about the chat (T10). */
export function chatFolder(root: string, conversation: Conversation): string {
  return path.join(root, chatGroup, chatFolderName(conversationKey(conversation)));
}

/** Name of a conversation's folder. A thread's name begins with its chat's name and a dash. */
export function chatFolderName(key: string): string {
  const [room = '', thread] = key.split('/');
  const name = digest(room);
  return thread === undefined ? name : `${name}-${digest(thread).slice(0, 16)}`;
}

function digest(text: string): string {
  return hash('sha256', text).slice(0, 32);
}

/** Makes missing folders with mode 0700, and marks the conversation's folder as used now. */
export async function makeRunFolders({ scratch, chat }: RunFolders): Promise<void> {
  for (const folder of [scratch, chat]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
  }
  await utimes(chat, new Date(), new Date());
}

/** A folder that file tools can reach (T13). */
export type FileScope = Readonly<
  | {
      kind: 'scratch' | 'chat';
      /** Paths that lead here for commands and models. Messages use the first. */
      seen: readonly [string, ...string[]];
      /** Absolute path on the host. It may not exist yet. */
      host: string;
    }
  | { kind: 'skill'; seen: readonly [string, ...string[]]; skill: SkillFolder }
>;

/** Folders that file tools can reach. Relative paths begin in the first. */
export type FileScopes = readonly [FileScope, ...FileScope[]];

/** The folders of a run, under the names that its commands know and the usual ones (T13). */
export function runScopes({ scratch, chat }: RunFolders, skill: Skill, sandbox: Sandbox): FileScopes {
  return [
    { kind: 'scratch', seen: namesOf(sandbox, 'scratch', scratch), host: scratch },
    ...turnScopes(chat, sandbox, skill),
  ];
}

/** The folders of the main agent. `skill` is one that it follows (U8). */
export function turnScopes(chat: string, sandbox: Sandbox, skill?: Skill): FileScopes {
  const own = chatScope(chat, sandbox);
  if (skill?.directory === undefined) return [own];
  return [own, { kind: 'skill', seen: namesOf(sandbox, 'skill', skill.directory), skill }];
}

export type PlainScope = Exclude<FileScope, { kind: 'skill' }>;

export function chatScope(chat: string, sandbox: Sandbox): PlainScope {
  return { kind: 'chat', seen: namesOf(sandbox, 'chat', chat), host: chat };
}

function namesOf(sandbox: Sandbox, folder: 'scratch' | 'chat' | 'skill', host: string): FileScope['seen'] {
  const name = sandbox.seen(folder, host);
  return name === `/${folder}` ? [name] : [name, `/${folder}`];
}

/** No names: the path is the folder itself. */
type Found = Readonly<{ ok: true; place: FileScope; names: readonly string[] } | NotFound>;
type NotFound = Readonly<{ ok: false; code: 'INVALID_PATH' | 'FILE_NOT_FOUND'; message: string }>;

/** Finds the folder that a path leads to. A path outside of all folders looks missing (R4). */
export function findInScope(places: FileScopes, path: string): Found {
  const problem = malformed(path);
  if (problem !== undefined) return { ok: false, code: 'INVALID_PATH', message: problem };
  const names = (below: string): readonly string[] =>
    below.split('/').filter((name) => name !== '' && name !== '.');
  if (!path.startsWith('/')) return { ok: true, place: places[0], names: names(path) };
  for (const place of places) {
    const seen = place.seen.find((each) => path === each || path.startsWith(`${each}/`));
    if (seen !== undefined) return { ok: true, place, names: names(path.slice(seen.length)) };
  }
  return absent(places, path);
}

function malformed(path: string): string | undefined {
  if (path.trim() === '' || path.length > 1024) return 'give the path of a file';
  if (path.includes('\0')) return 'the path holds a NUL';
  if (path.includes('\\')) return 'write "/" between folders, no "\\"';
  if (path.split('/').includes('..')) return 'the path must not hold ".."';
  return undefined;
}

export function absent(places: FileScopes, path: string): NotFound {
  const written = JSON.stringify(oneLine(path, 200));
  const message = `there is no file ${written}; files are in ${nameScopes(places)}`;
  return { ok: false, code: 'FILE_NOT_FOUND', message };
}

export function nameScopes(places: readonly FileScope[]): string {
  return places.map(({ seen: [name] }) => name).join(', ');
}

/** Opens a file of the run or conversation. Undefined if it is `absent`. */
export function openIn(place: PlainScope, names: readonly string[]): number | undefined {
  return openInside({ root: place.host, names }, { alone: true });
}

/** Reads a whole file of a skill, if it has at most `limit` bytes. */
export function readOfSkill(
  { skill }: Extract<FileScope, { kind: 'skill' }>,
  names: readonly string[],
  limit: number,
): ReturnType<typeof readSkillBytes> {
  return readSkillBytes(skill, names.join('/'), limit);
}
