import type { BuiltIn } from './built-in-commands.ts';
import type { Button, ChannelEvent, OpenForm } from './channel.ts';
import type { Message } from './message.ts';
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

/** An optional part of the bot: a folder of `features/` and a line of `bot/features.ts`. */
export type Feature = Readonly<{
  name: string;
  /** Chat commands by their names in the table of `built-in-commands.ts`. */
  commands?: Readonly<Partial<Record<BuiltIn, AnswerCommand>>>;
  /** Buttons by the first word of their action. */
  presses?: Readonly<Record<string, AnswerPress>>;
}>;

export const expired = fixed`This button has expired. Please ask me again.`;
