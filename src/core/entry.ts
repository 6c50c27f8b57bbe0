import type Anthropic from '@anthropic-ai/sdk';
import type { Tokens } from './model.ts';
import type { ShownFile } from './received.ts';
import type { Taint } from './taint.ts';
import type { DeliveredFile } from './tool.ts';

/** Stands for the arguments of a call that were no JSON: an object, as the Messages API wants them back. */
const key = 'arguments that were no JSON';

/** Characters of them that are kept, so that the model sees what it wrote. */
const longest = 2_000;

/** One line of a transcript. It is stored before its effect is acted on: the transcript is the journal (M7). */
export type Entry =
  | Readonly<{
      kind: 'user';
      /** The inbox item it came from; absent for what the host itself says. */
      item?: string;
      /** Sender id. */
      sender?: string;
      /** The item whose turn was running when its sender wrote it, and which it joined (H11). */
      joins?: string;
      content: string | readonly Anthropic.ContentBlockParam[];
      /** What the run that it starts is told of the place: the same words after a restart (I1). */
      context?: string;
      /** The skill or tool whose work the content tells of, where nobody wrote it. */
      about?: string;
      /** What runs of these skills ask the sender, as the model reads it (U14). */
      asked?: readonly Readonly<{ skill: string; text: string }>[];
      /** The content is the instructions of an inline skill that the person started (I6). */
      follows?: ActiveSkill;
      /** Runs that asked this sender something, and that this may be the answer to (U14). */
      answers?: readonly string[];
      /** Addresses that the sender wrote themselves, as `addressOf` gives them (S7). */
      urls?: readonly string[];
      /** Files that stand before the content (M12). */
      files?: readonly ShownFile[];
      /** Nothing that was sent could be fetched: the person was told this instead of an answer. */
      unread?: string;
      marks?: Taint;
      at: number;
    }>
  | Readonly<{
      kind: 'assistant';
      content: readonly Anthropic.ContentBlock[];
      stopReason: Anthropic.StopReason;
      tokens: Tokens;
      model: string;
      /** What its thinking is bound to; without it the thinking is shown to no model again (M13). */
      binding?: string;
      at: number;
    }>
  /** Stored when the call starts: one without a `tool_result` after it was interrupted. */
  | Readonly<{ kind: 'tool_started'; toolUseId: string; at: number }>
  | Readonly<{
      kind: 'tool_result';
      toolUseId: string;
      content: string;
      isError: boolean;
      /** The content is the instructions of a skill (U8). */
      follows?: ActiveSkill;
      /** Files that the call handed over (T12). */
      artifacts?: readonly DeliveredFile[];
      marks?: Taint;
      at: number;
    }>
  | Readonly<{ kind: 'notice'; text: string; at: number }>
  /** In a journal of marks alone: something private was started here (S7). */
  | Readonly<{ kind: 'mark'; marks: Taint; at: number }>
  /** What came before, in short: stands for every earlier entry but the last `kept` ones, which stay verbatim (M9). */
  | Readonly<{
      kind: 'summary';
      text: string;
      kept: number;
      /** Of the kept entries the first so many are no longer shown to a model, but for the person's own words: a turn that is too long for the window. */
      folded?: number;
      /** Sender ids of what it stands for, earlier summaries included. */
      senders?: readonly string[];
      /** What was done so far in a turn that is cut inside, for its own sender only. */
      own?: Readonly<{ sender: string; text: string }>;
      marks?: Taint;
      tokens: Tokens;
      at: number;
    }>;

/**
 * A skill whose instructions the main agent has been given to follow itself, from here to the end of the turn (U8, T6).
 * It stands on the transcript entry that gives them, so that a turn that continues after a crash is bound as before.
 */
export type ActiveSkill = Readonly<{
  skill: string;
  /** Its `allowed_tools` as they were read then; absent where nothing is narrowed. */
  allowedTools?: readonly string[];
}>;

export function unparsedInput(written: string): Readonly<Record<string, string>> {
  return { [key]: written.slice(0, longest) };
}

export function isUnparsed(input: unknown): boolean {
  return typeof input === 'object' && input !== null && Object.hasOwn(input, key);
}
