import type { Conversation, SeenChatType } from './conversation.ts';
import type { ActiveSkill, Taint } from './entry.ts';
import type { Provenance } from './provenance.ts';
import type { Requester } from './tool.ts';
import { withoutEnd } from '../lib/text/text.ts';

const commandPattern = /^\s*\/([\p{L}\p{N}][\p{L}\p{M}\p{N}_-]*)(?:@(\w+))?(?:\s+([^]*))?$/u;

const most = 50;

const longest = 2_000;

/** Decide by `id` only. */
export type Sender = Readonly<{
  /** `telegram:42`, `slack:U042`, or a chat's id. */
  id: string;
  name: string;
  /** `guest`: of another Slack workspace (A9). `chat`: an anonymous admin or channel. */
  kind: 'person' | 'chat' | 'bot' | 'guest';
  /** BCP 47 tag, if known (H14). */
  language?: string;
  timezone?: string;
  /** Only in earlier messages (H10). */
  own?: true;
}>;

export type Attachment = Readonly<{
  kind: 'photo' | 'document' | 'audio' | 'video' | 'other';
  name: string;
  mime?: string;
  size?: number;
  /** For its channel; absent if it can't be fetched. */
  ref?: string;
  /** Why there is nothing to fetch: somebody deleted it, or the platform hides it until its plan is paid. */
  missing?: 'deleted' | 'hidden';
  /** What its sender wrote below this file, if others of the message have words of their own. */
  caption?: string;
  /** What the platform heard in a recording. `whole`: false if it tells the beginning only. */
  transcript?: Readonly<{ text: string; whole: boolean }>;
}>;

export type Quote = Readonly<{
  name: string;
  text: string;
  own: boolean;
  /** Some of it is the bot's own words, said in another chat or nobody knows where (S7). */
  relayed?: true;
  note?: string;
  /** Absent for the bot (Q12). */
  sender?: string;
  attachments?: readonly Attachment[];
}>;

/** `name`: lower case, without `@bot`. */
export type Command = Readonly<{
  name: string;
  args: string;
  /** Without a slash, after a mention (I1). */
  bare?: boolean;
}>;

/** Work in a person's name (U9). */
export type Task = Readonly<
  | {
      kind: 'run';
      id: string;
      skill: string;
      tool: string;
      input: Readonly<Record<string, unknown>>;
      /** By command, or by the model (I4). */
      by: 'person' | 'model';
      parent: string;
      toolUseId: string;
      /** Names of the skills that the turn followed: their policy rules hold for this call too (T8). */
      following?: readonly string[];
      ofRoutine?: true;
    }
  | {
      kind: 'result';
      id: string;
      skill: string;
      result: string;
      failed?: true;
      /** `result`: this skill's instructions (T6). */
      follows?: ActiveSkill;
      /** Private (S7). */
      marks?: Taint;
      ofRoutine?: true;
    }
  /** The message's text is its task, in its creator's words (N1). */
  | {
      kind: 'routine';
      id: string;
      name: string;
      /** Milliseconds since 1970; by hand: when. */
      due: number;
      /** Due times that this one stands in for (N5). */
      missed?: number;
      /** Due times before that were left out (N5). */
      skipped?: number;
      byHand?: true;
      reminder?: true;
      quiet?: true;
      skill?: string;
      /** Whose words the text is; undefined: the creator's or the operator's (S13). */
      from?: Provenance;
    }
  /** An inbound event (N7). Its body is in `shared`. */
  | {
      kind: 'hook';
      id: string;
      name: string;
      /** The operator's words. */
      prompt: string;
    }
>;

export function skillOf(task: Task | undefined): string | undefined {
  return task !== undefined && 'skill' in task ? task.skill : undefined;
}

/** A firing, and what it began in the background (N3). */
export function isOfRoutine(task: Task | undefined): boolean {
  if (task?.kind === 'routine') return true;
  return task !== undefined && 'ofRoutine' in task && task.ofRoutine === true;
}

/** Nobody typed what a hook or a routine says (S13). */
export function isUnattended(task: Task | undefined): boolean {
  return task?.kind === 'hook' || isOfRoutine(task);
}

export const shownIdLength = 6;

export type Message = Readonly<{
  /** Never reused (Q2). */
  id: string;
  conversation: Conversation;
  chatType: SeenChatType;
  /** Shared with another company (A1). */
  external: boolean;
  sender: Sender;
  /** Plain, without the bot's mention. */
  text: string;
  /** The channel's word; nobody else guesses. */
  addressed: boolean;
  command?: Command;
  attachments: readonly Attachment[];
  replyTo?: Quote;
  /** Not the sender's own words (M11). */
  shared?: readonly Quote[];
  /** Behind other words (S7). */
  hiddenLinks?: readonly string[];
  /** Only the sender sees it and its answers (H12). */
  ephemeral?: true;
  /** An edit of what was being answered (H11). Not from channels. */
  edits?: string;
  /** The bot's own work. No channel sets it. */
  task?: Task;
  platformId?: string;
  /** Milliseconds since 1970, the platform's clock. */
  sentAt: number;
}>;

/** Scheme, host, port, path, query. Undefined if invalid or with a user. */
export function addressOf(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  url.hash = '';
  return url.href;
}

/** Visible ones (S7). */
export function addressesTyped({
  text,
  hiddenLinks = [],
}: Pick<Message, 'text' | 'hiddenLinks'>): readonly string[] {
  return addressesIn(hiddenLinks.reduce((left, link) => left.replaceAll(`(${link})`, ''), text));
}

/** By `addressOf`, with and without final punctuation. */
export function addressesIn(text: string): readonly string[] {
  const written = (text.match(/https?:\/\/[^\s<>"]+/gi) ?? []).filter(({ length }) => length <= longest);
  const meant = written.slice(0, most).flatMap((each) => [each, withoutEnd(each, ".,;:!?'*_`|~)]}")]);
  return [...new Set(meant.flatMap((each) => addressOf(each) ?? []))];
}

/** `/name args` or `/name@bot args`; not `/etc/hosts`, `/` or `// note`. */
export function parseCommand(text: string): (Command & Readonly<{ bot?: string }>) | undefined {
  const found = commandPattern.exec(text);
  if (found?.[1] === undefined) return undefined;
  const command = { name: found[1].toLowerCase(), args: found[3]?.trim() ?? '' };
  return found[2] === undefined ? command : { ...command, bot: found[2] };
}

/** After a mention (I1): `/NAME text`, `!NAME text`, `NAME: text`; others are `bare`. */
export function parseAddressed(text: string): Command | undefined {
  const marked = parseCommand(text.replace(/^(\s*)!/, '$1/'));
  if (marked !== undefined) return { name: marked.name, args: marked.args };
  const [, name, args] = /^\s*([^\s:]{1,64}):\s+(\S[^]*)$/.exec(text) ?? [];
  const called = name === undefined ? undefined : parseCommand(`/${name} ${args}`);
  const command = called ?? parseCommand(`/${text}`);
  if (command === undefined) return undefined;
  return { name: command.name, args: command.args, bare: called === undefined ? true : undefined };
}

export function requesterOf(message: Message): Requester {
  const { conversation, chatType, external, sender } = message;
  const { id, name, kind, language, timezone } = sender;
  const replyTo = repliesTo(message);
  return {
    conversation,
    chatType,
    external,
    sender: id,
    name,
    kind,
    language,
    timezone,
    replyTo,
  };
}

export function repliesTo({ chatType, platformId }: Message): string | undefined {
  return chatType === 'private' ? undefined : platformId;
}
