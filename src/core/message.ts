import type { Conversation, SeenChatType } from './conversation.ts';
import type { Followed } from './followed.ts';
import type { Marks } from './taint.ts';

/** Who said it. Decisions use `id` only; `name` is shown and never matched. */
export type Sender = Readonly<{
  /** Qualified and immutable: `telegram:42`, `slack:U042`; for an anonymous admin or a channel's voice, that chat's id. */
  id: string;
  name: string;
  /** `guest`: a member of another Slack workspace (A9). `chat`: an anonymous admin or a channel speaking. */
  kind: 'person' | 'chat' | 'bot' | 'guest';
  /** BCP 47 tag of what the bot's own sentences are to be in, where it is known (H14). */
  language?: string;
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
      follows?: Followed;
      /** `result` holds what a sensitive skill or a capability gave (S7). */
      marks?: Marks;
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
