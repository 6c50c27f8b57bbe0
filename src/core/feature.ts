import type { BuiltIn } from './built-in-commands.ts';
import type { Button, ChannelEvent, OpenForm } from './channel.ts';
import type { Entry, Taint } from './entry.ts';
import type { Said } from './memory.ts';
import type { Message } from './message.ts';
import type { WhoseWords } from './provenance.ts';
import type { Requester, Tool } from './tool.ts';
import { fixed } from './texts/say.ts';

export type PressEvent = Extract<ChannelEvent, { type: 'press' }>;

/**
 * What came of a press. `text` takes the place of the message with the button, and only the person who pressed reads
 * `told`. Undefined if the message shows it already, or if there is nothing to say.
 */
export type Pressed = Readonly<
  { text: string; buttons?: readonly Button[] | undefined } | { told: string }
> | void;

/**
 * Answers a press on a button whose action is `PREFIX:WORDS`. The presser may use the bot; whether they may do this is for
 * the feature to judge, because anybody in a chat can press.
 */
export type AnswerPress = (event: PressEvent, words: readonly string[]) => Promise<Pressed>;

/**
 * How an answer is sent: `replyTo` is the platform's id of the message that it answers, `onlyTo` the only person who
 * sees it.
 */
export type ReplyOptions = Readonly<{ buttons?: readonly Button[]; replyTo?: string; onlyTo?: string }>;

/** The answer to a command. If `text` is empty, nothing is sent, because something else tells what was done. */
export type Answer = Readonly<{ text: string; more?: ReplyOptions }>;

/**
 * Answers `/NAME args`. `write` names a command as people type it in this chat. Undefined if the command is answered in
 * its turn in the queue.
 */
export type AnswerCommand = (
  message: Message,
  args: string,
  asked: Readonly<{ write: (name: string, args?: string) => string; openForm?: OpenForm | undefined }>,
) => Promise<Answer | undefined>;

/** A turn of the main agent that is about to begin. `key` is the key of its item in the inbox. */
export type NewTurn = Readonly<{
  message: Message;
  requester: Requester;
  transcript: string;
  key: string;
  whose: WhoseWords;
}>;

/** What the model is told with a message. `marks`: what private data is in it. */
export type Notes = Readonly<{ text: string; marks: Taint | undefined }>;

/** Words below an answer, and a question of its own behind it. */
export type Footer = Readonly<{
  text: string;
  question?: Readonly<{ text: string; buttons: readonly Button[] }> | undefined;
}>;

/** What a feature brings to one turn. */
export type TurnPart = Readonly<{
  /** Offered if `[agent] tools` names them. */
  tools?: readonly Tool[];
  /** Told with the message. Undefined: the model knows it from the entries `before`. */
  notes?(before: readonly Entry[]): Promise<Notes | undefined>;
  /** What of a new entry can be found later; `all` are the entries before it. */
  said?(entry: Entry, all: readonly Entry[]): Promise<readonly Said[]>;
  /** `entries` are those of this turn, once it is answered. */
  footer?(entries: readonly Entry[]): Promise<Footer>;
}>;

/** An optional part of the bot: a folder of `features/` and a line of `bot/features.ts`. */
export type Feature = Readonly<{
  name: string;
  /** Chat commands by their names in the table of `built-in-commands.ts`. */
  commands?: Readonly<Partial<Record<BuiltIn, AnswerCommand>>>;
  /** Called once before each turn, also when it resumes after a crash. Undefined: nothing for this turn. */
  turn?(turn: NewTurn): Promise<TurnPart | undefined>;
  /** Buttons by the first word of their action. */
  presses?: Readonly<Record<string, AnswerPress>>;
}>;

export const expired = fixed`This button has expired. Please ask me again.`;
