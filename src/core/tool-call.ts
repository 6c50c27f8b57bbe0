import type { Followed } from './followed.ts';
import type { Marks } from './marks.ts';
import type { Delivered } from './tool.ts';

/** What a model asked for, as it asked for it: neither the name nor the input has been checked. */
export type ToolCall = Readonly<{
  /** The model's id of the call: unique within its transcript. */
  id: string;
  name: string;
  input: unknown;
}>;

/** What the model gets back: text that is redacted and cut to size already (M3). */
export type ToolOutcome = Readonly<{
  content: string;
  isError: boolean;
  /** `content` holds the instructions of this skill: whoever stores the one stores the other with it (T6). */
  follows?: Followed;
  /** Inbox item that is done once this outcome is stored: what it would have told stands here. */
  settles?: string;
  /** It has no outcome yet, and `content` means nothing: a person has to answer this first (U14). */
  asks?: string;
  /** Files that it handed over (T12). */
  artifacts?: readonly Delivered[];
  /** `content` holds what a sensitive skill or a capability gave: stored with it (S7). */
  marks?: Marks;
}>;

/**
 * The one door for effects. What goes wrong is an outcome the model can act on (T11). It rejects only where the store can't
 * be used: then the call has no outcome yet, and is made again when its turn goes on (Q5, Q11). `begin` is awaited right
 * before the tool runs, when everything before it has agreed: what was asked of a person meanwhile was no start.
 */
export type CallTool = (
  call: ToolCall,
  signal: AbortSignal,
  begin?: () => Promise<void>,
) => Promise<ToolOutcome>;
