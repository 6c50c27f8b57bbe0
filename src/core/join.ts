import type { Message } from './message.ts';

/**
 * Groups the parts of an album or of a text that the platform split. They have one key, whatever process they reach
 * (H3).
 */
export type Join = Readonly<{
  key: string;
  /** How long to wait for more parts, in milliseconds. */
  holdMs: number;
  /** The text to put between `last` and this part; undefined if they do not belong together. */
  glue(last: Message): string | undefined;
}>;
