import type { Button, ChannelEvent } from './channel.ts';
import { fixed } from './texts/say.ts';

export type PressEvent = Extract<ChannelEvent, { type: 'press' }>;

/**
 * What came of a press. `text` takes the place of the message with the button. `told` is for the presser alone. Undefined:
 * the message shows it already, or there is nothing to say.
 */
export type Pressed = Readonly<
  { text: string; buttons?: readonly Button[] | undefined } | { told: string }
> | void;

/**
 * Answers a press on a button whose action is `PREFIX:WORDS`. The presser may use the bot; whether they may do this is for
 * the feature to judge, because anybody in a chat can press.
 */
export type AnswerPress = (event: PressEvent, words: readonly string[]) => Promise<Pressed>;

/** An optional part of the bot: a folder of `features/` and a line of `bot/features.ts`. */
export type Feature = Readonly<{
  name: string;
  /** By the first word of the action. */
  presses?: Readonly<Record<string, AnswerPress>>;
}>;

export const expired = fixed`This button has expired. Please ask me again.`;
