import type Anthropic from '@anthropic-ai/sdk';
import type { Tokens } from './model.ts';
import type { ShownFile } from './received.ts';
import type { DeliveredFile } from './tool.ts';

const key = 'arguments that were no JSON';

const longest = 2_000;

/** A line of a transcript, stored before its effect (M7). */
export type Entry =
  | Readonly<{
      kind: 'user';
      /** Absent for what the host says. */
      item?: string;
      sender?: string;
      /** The running turn that it joined (H11). */
      joins?: string;
      content: string | readonly Anthropic.ContentBlockParam[];
      /** For the run that it starts (I1). */
      context?: string;
      /** Skill or tool of the content, if nobody wrote it. */
      about?: string;
      /** Questions of runs, as the model reads them (U14). */
      asked?: readonly Readonly<{ skill: string; text: string }>[];
      /** Instructions of an inline skill that the person started (I6). */
      follows?: ActiveSkill;
      /** Runs whose question this may answer (U14). */
      answers?: readonly string[];
      /** That the sender wrote themselves, by `addressOf` (S7). */
      urls?: readonly string[];
      /** Before the content (M12). */
      files?: readonly ShownFile[];
      /** No file could be fetched: the person was told this. */
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
      /** Without it no model sees its thinking again (M13). */
      binding?: string;
      at: number;
    }>
  /** Without a later `tool_result` the call was interrupted. */
  | Readonly<{ kind: 'tool_started'; toolUseId: string; at: number }>
  | Readonly<{
      kind: 'tool_result';
      toolUseId: string;
      content: string;
      isError: boolean;
      /** Instructions of a skill (U8). */
      follows?: ActiveSkill;
      artifacts?: readonly DeliveredFile[];
      marks?: Taint;
      at: number;
    }>
  | Readonly<{ kind: 'notice'; text: string; at: number }>
  /** In a journal of marks: something private began here (S7). */
  | Readonly<{ kind: 'mark'; marks: Taint; at: number }>
  /** Replaces every earlier entry but the last `kept` (M9). */
  | Readonly<{
      kind: 'summary';
      text: string;
      kept: number;
      /** Of the kept, those shown as the person's words alone. */
      folded?: number;
      /** Of what it replaces, earlier summaries included. */
      senders?: readonly string[];
      /** For the turn's own sender only. */
      own?: Readonly<{ sender: string; text: string }>;
      marks?: Taint;
      tokens: Tokens;
      at: number;
    }>;

/** Followed to the end of the turn, also after a crash (U8, T6). */
export type ActiveSkill = Readonly<{
  skill: string;
  /** As it was then; absent if nothing is narrowed. */
  allowedTools?: readonly string[];
}>;

export function unparsedInput(written: string): Readonly<Record<string, string>> {
  return { [key]: written.slice(0, longest) };
}

export function isUnparsed(input: unknown): boolean {
  return typeof input === 'object' && input !== null && Object.hasOwn(input, key);
}

/** Private data (S7): the skill's name if all is its own, else `true`. */
export type Taint = string | true;

/** One skill's own only if both are. */
export function joinTaint(one: Taint | undefined, other: Taint | undefined): Taint | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one === other ? one : true;
}

/** Of all entries together (S7). `damaged` ones might be marked. */
export function taintIn(entries: readonly Entry[], damaged = 0): Taint | undefined {
  const unknown = damaged > 0 ? true : undefined;
  return entries.reduce<Taint | undefined>(
    (marks, entry) => ('marks' in entry ? joinTaint(marks, entry.marks) : marks),
    unknown,
  );
}
