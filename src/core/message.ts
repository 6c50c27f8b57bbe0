import type { ChatKind, Conversation } from './conversation.ts';
import type { ActiveSkill, Taint } from './entry.ts';
import type { PrivateReply } from './privately.ts';
import type { Provenance } from './provenance.ts';
import type { Requester } from './tool.ts';
import { withoutEnd } from '../lib/text/text.ts';

const commandPattern = /^\s*\/([\p{L}\p{N}][\p{L}\p{M}\p{N}_-]*)(?:@(\w+))?(?:\s+([^]*))?$/u;

const most = 50;

const longest = 2_000;

/** How somebody reads words and times. */
export type PersonLocale = Readonly<{
  /** BCP 47 tag of the person's language, if the platform tells it (H14). */
  language?: string;
  timezone?: string;
}>;

/** Who wrote a message. Decisions use only `id`: names can be chosen freely. */
export type Sender = PersonLocale &
  Readonly<{
    /** Qualified id: `telegram:42`, `slack:U042`, or the id of a chat. */
    id: string;
    name: string;
    /** `guest` is a member of another Slack workspace (A9). `chat` is an anonymous admin or a channel. */
    kind: 'person' | 'chat' | 'bot' | 'guest';
    /** The bot itself wrote it. Only among earlier messages (H10). */
    own?: true;
  }>;

export type Attachment = Readonly<{
  kind: 'photo' | 'document' | 'audio' | 'video' | 'other';
  name: string;
  mime?: string;
  size?: number;
  /** What the channel needs to fetch it; undefined if it can't be fetched. */
  ref?: string;
  /** Why there is nothing to fetch: somebody deleted it, or the platform hides it until its plan is paid for. */
  missing?: 'deleted' | 'hidden';
  /** What the sender wrote below this file, if other files of the message have captions of their own. */
  caption?: string;
  /** What the platform heard in a recording. `whole` is false if this is only the beginning. */
  transcript?: Readonly<{ text: string; whole: boolean }>;
}>;

/** The text of a quote, and in `note` what it is if people did not write it, such as `place`. */
export type QuotedWords = Readonly<{ text: string; note?: string }>;

export type Quote = QuotedWords &
  Readonly<{
    name: string;
    own: boolean;
    /** Part of it is words of the bot from another or an unknown chat (S7). */
    relayed?: true;
    /** Qualified id of who wrote it, so that it can be forgotten; undefined for the bot (Q12). */
    sender?: string;
    attachments?: readonly Attachment[];
  }>;

/** A command in a message. `name` is in lower case and without `@bot`. */
export type MessageCommand = Readonly<{
  name: string;
  args: string;
  /** It follows a mention and has no slash, so it may be everyday words (I1). */
  bare?: boolean;
}>;

/** Work of the bot that is done in a person's name (U9). */
export type Task = Readonly<
  | {
      kind: 'run';
      id: string;
      skill: string;
      tool: string;
      input: Readonly<Record<string, unknown>>;
      /** Who started it: the person by a command, or the model (I4). */
      by: 'person' | 'model';
      parent: string;
      toolUseId: string;
      /** Names of the skills that the turn followed. Their policy rules hold for this call, too (T8). */
      activeSkills?: readonly string[];
      ofRoutine?: true;
    }
  | {
      kind: 'result';
      id: string;
      skill: string;
      result: string;
      failed?: true;
      /** Set if `result` is the instructions of this skill (T6). */
      activeSkill?: ActiveSkill;
      /** Set if the result is private (S7). */
      taint?: Taint;
      ofRoutine?: true;
    }
  /** A routine fires. The message's text is its task, in the creator's words (N1). */
  | {
      kind: 'routine';
      id: string;
      name: string;
      /** When it was due, or when somebody started it by hand, in milliseconds since 1970. */
      due: number;
      /** How many missed due times this firing stands in for (N5). */
      missed?: number;
      /** How many earlier due times were left out (N5). */
      skipped?: number;
      byHand?: true;
      reminder?: true;
      quiet?: true;
      skill?: string;
      /** Whose words the text is. Undefined: those of the creator or the operator (S13). */
      from?: Provenance;
    }
  /** A webhook called the bot (N7). The body of the event is in `shared`. */
  | {
      kind: 'hook';
      id: string;
      name: string;
      /** The task, in the operator's words. */
      prompt: string;
    }
>;

export function skillOf(task: Task | undefined): string | undefined {
  return task !== undefined && 'skill' in task ? task.skill : undefined;
}

/** Whether it is a routine that fires, or a run that one started in the background (N3). */
export function isOfRoutine(task: Task | undefined): boolean {
  if (task?.kind === 'routine') return true;
  return task !== undefined && 'ofRoutine' in task && task.ofRoutine === true;
}

/** Whether it is a hook's or a routine's work, whose text nobody typed now (S13). */
export function isUnattended(task: Task | undefined): boolean {
  return task?.kind === 'hook' || isOfRoutine(task);
}

export const shownIdLength = 6;

/** Somebody who writes or does something in a chat. */
export type Actor = ChatKind & Readonly<{ conversation: Conversation; sender: Sender }>;

export type Message = Actor &
  Readonly<{
    /** The id in the queue, which is never used again (Q2). */
    id: string;
    /** Plain text, without the mention of the bot. */
    text: string;
    /** Whether the message is meant for the bot. Only the channel decides this. */
    addressed: boolean;
    command?: MessageCommand;
    attachments: readonly Attachment[];
    replyTo?: Quote;
    /** Forwarded or shared messages, which are not the sender's own words (M11). */
    shared?: readonly Quote[];
    /** Targets of links whose text says something else. They do not count as typed by the person (S7). */
    hiddenLinks?: readonly string[];
    /** Only the sender sees the message and its answers (H12). */
    ephemeral?: true;
    privateReply?: PrivateReply;
    /** Id of the message under work that this edit replaces. Set by take-edit, never by a channel (H11). */
    edits?: string;
    /** Set if this is the bot's own work. No channel sets it. */
    task?: Task;
    platformId?: string;
    /** When it was sent by the platform's clock, in milliseconds since 1970. */
    sentAt: number;
  }>;

/** A web address in one spelling, without its fragment. Undefined if it is invalid or contains a user or password. */
export function addressOf(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  url.hash = '';
  return url.href;
}

/** Addresses that the sender could see when they typed (S7). */
export function addressesTyped({ text, hiddenLinks = [] }: Message): readonly string[] {
  return addressesIn(hiddenLinks.reduce((left, link) => left.replaceAll(`(${link})`, ''), text));
}

/** Web addresses in a text, each with and without its final punctuation, by `addressOf`. */
export function addressesIn(text: string): readonly string[] {
  const written = (text.match(/https?:\/\/[^\s<>"]+/gi) ?? []).filter(({ length }) => length <= longest);
  const meant = written.slice(0, most).flatMap((each) => [each, withoutEnd(each, ".,;:!?'*_`|~)]}")]);
  return [...new Set(meant.flatMap((each) => addressOf(each) ?? []))];
}

/** Reads `/name args` and `/name@bot args`. Undefined for text such as `/etc/hosts`, `/` or `// note`. */
export function parseCommand(text: string): (MessageCommand & Readonly<{ bot?: string }>) | undefined {
  const found = commandPattern.exec(text);
  if (found?.[1] === undefined) return undefined;
  const command = { name: found[1].toLowerCase(), args: found[3]?.trim() ?? '' };
  return found[2] === undefined ? command : { ...command, bot: found[2] };
}

/**
 * Reads a command after a mention (I1): `/NAME text`, `!NAME text` or `NAME: text`. Any other text is a `bare` command
 * by its first word.
 */
export function parseAddressed(text: string): MessageCommand | undefined {
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
