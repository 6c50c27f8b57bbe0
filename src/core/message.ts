import type { Conversation, SeenChatType } from './conversation.ts';
import type { ActiveSkill } from './entry.ts';
import type { Taint } from './taint.ts';
import { withoutEnd } from '../lib/text/text.ts';

const commandPattern = /^\s*\/([\p{L}\p{N}][\p{L}\p{M}\p{N}_-]*)(?:@(\w+))?(?:\s+([^]*))?$/u;

/** Addresses of one message that are remembered, and the characters of one. */
const most = 50;

const longest = 2_000;

/** Who said it. Decisions use `id` only; `name` is shown and never matched. */
export type Sender = Readonly<{
  /** Qualified and immutable: `telegram:42`, `slack:U042`; for an anonymous admin or a channel's voice, that chat's id. */
  id: string;
  name: string;
  /** `guest`: a member of another Slack workspace (A9). `chat`: an anonymous admin or a channel speaking. */
  kind: 'person' | 'chat' | 'bot' | 'guest';
  /** BCP 47 tag of what the bot's own sentences are to be in, where it is known (H14). */
  language?: string;
  /** IANA name of the zone that their days and times are told in, where it is known (M8). */
  timezone?: string;
  /** The bot itself: only a channel that read earlier messages says so (H10). */
  own?: true;
}>;

export type Attachment = Readonly<{
  kind: 'photo' | 'document' | 'audio' | 'video' | 'other';
  /** As the sender wrote it: data, never a path. */
  name: string;
  mime?: string;
  /** Bytes. */
  size?: number;
  /** What its channel fetches it by; absent where nothing can be fetched. Opaque to everybody else. */
  ref?: string;
}>;

/** Words of somebody: what a message answers, or what its sender passed on. */
export type Quote = Readonly<{
  name: string;
  text: string;
  /** The bot said it. */
  own: boolean;
  /** What it is, where it is no plain message: `forwarded`, `poll`. */
  note?: string;
  /** Who said it, where the platform tells and it was not the bot: what is quoted of a person is forgotten with them (Q12). */
  sender?: string;
  /** Files of the message that it quotes. */
  attachments?: readonly Attachment[];
}>;

/** `/name rest`: `name` lower-cased and without `@bot`, `args` trimmed. */
export type Command = Readonly<{
  name: string;
  args: string;
  /** Written without a slash after a mention, where the platform takes no slash (Slack threads): `@bot name rest` (I1). */
  bare?: boolean;
}>;

/** What the bot does later in a person's name: a run in the background, and the word that it ended (U9). */
export type Task = Readonly<
  | {
      kind: 'run';
      id: string;
      /** What people are told it is: the skill, or the tool. */
      skill: string;
      /** The call that began it. */
      tool: string;
      input: Readonly<Record<string, unknown>>;
      /** Whether a person's own command began it, or the model (I4). */
      by: 'person' | 'model';
      /** Transcript and call that it belongs to: they name its journal. */
      parent: string;
      toolUseId: string;
    }
  | {
      kind: 'result';
      id: string;
      skill: string;
      result: string;
      /** The run came to nothing: `result` says why. */
      failed?: true;
      /** `result` is the instructions of this skill: the turn that is told them is bound by it (T6). */
      follows?: ActiveSkill;
      /** `result` holds what a sensitive skill or a capability gave (S7). */
      marks?: Taint;
    }
>;

/** Characters of a task's id that people and models see. */
export const shownIdLength = 6;

/** One normalised thing a person said: plain data that can be stored and replayed. */
export type Message = Readonly<{
  /** Channel and platform id, unique for good: the key that removes duplicates (Q2). */
  id: string;
  conversation: Conversation;
  chatType: SeenChatType;
  /** The conversation is shared with another company (A1). */
  external: boolean;
  sender: Sender;
  /** Plain text, platform escapes undone, the bot's own mention removed. */
  text: string;
  /** The channel's word on whether the bot is meant; nobody else guesses. */
  addressed: boolean;
  command?: Command;
  attachments: readonly Attachment[];
  replyTo?: Quote;
  /** What the sender passed on (a forward, a shared message), or sent that is neither text nor a file: not their own words (M11). */
  shared?: readonly Quote[];
  /** Addresses in `text` behind other words, which the sender need not have seen (S7). */
  hiddenLinks?: readonly string[];
  /** Only its sender sees it in a chat of several (a Slack slash command): so are answers, until it has a thread (H12). */
  ephemeral?: true;
  /** Its sender changed this message of theirs into it, when it was being answered already (H11). No channel sets it. */
  edits?: string;
  /** Not said by anybody: the bot's own work in the sender's name. No channel sets it. */
  task?: Task;
  /** Platform id of this message inside its chat, where an answer can point at it. */
  platformId?: string;
  /** Milliseconds since 1970, the platform's clock. */
  sentAt: number;
}>;

/**
 * An http(s) address as two that ask for the same are equal: scheme, host, port, path and query, without the part that is not
 * sent. Nothing for what is none, or names a user.
 */
export function addressOf(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  url.hash = '';
  return url.href;
}

/** Those that a person wrote where they could see them: a link behind other words may be one they only pasted (S7). */
export function addressesTyped({
  text,
  hiddenLinks = [],
}: Pick<Message, 'text' | 'hiddenLinks'>): readonly string[] {
  return addressesIn(hiddenLinks.reduce((left, link) => left.replaceAll(`(${link})`, ''), text));
}

/** The whole http(s) addresses in a text that a person wrote, as `addressOf` gives them: also without the marks that end a sentence. */
export function addressesIn(text: string): readonly string[] {
  const written = (text.match(/https?:\/\/[^\s<>"]+/gi) ?? []).filter(({ length }) => length <= longest);
  const meant = written.slice(0, most).flatMap((each) => [each, withoutEnd(each, ".,;:!?'*_`|~)]}")]);
  return [...new Set(meant.flatMap((each) => addressOf(each) ?? []))];
}

/**
 * Reads `/name args` or `/name@bot args` at the start of a text: `name` in lower case, `args` trimmed with their
 * inner newlines kept, `bot` as it was written. Nothing when the text is no command (`/etc/hosts`, `/`, `// note`).
 */
export function parseCommand(text: string): (Command & Readonly<{ bot?: string }>) | undefined {
  const found = commandPattern.exec(text);
  if (found?.[1] === undefined) return undefined;
  const command = { name: found[1].toLowerCase(), args: found[3]?.trim() ?? '' };
  return found[2] === undefined ? command : { ...command, bot: found[2] };
}

/**
 * Reads what stands after a mention of the bot (I1): `/NAME text`, `!NAME text` and `NAME: text` are calls. Any other words are
 * `bare`: a sentence that may begin with a built-in word, and that calls no skill.
 */
export function parseAddressed(text: string): Command | undefined {
  const marked = parseCommand(text.replace(/^(\s*)!/, '$1/'));
  if (marked !== undefined) return { name: marked.name, args: marked.args };
  const [, name, args] = /^\s*([^\s:]{1,64}):\s+(\S[^]*)$/.exec(text) ?? [];
  const called = name === undefined ? undefined : parseCommand(`/${name} ${args}`);
  const command = called ?? parseCommand(`/${text}`);
  if (command === undefined) return undefined;
  return { name: command.name, args: command.args, bare: called === undefined ? true : undefined };
}
