import type Anthropic from '@anthropic-ai/sdk';
import type { Tokens } from './model.ts';
import type { ShownFile } from './received.ts';
import type { DeliveredFile } from './tool.ts';

const key = 'arguments that were no JSON';

const longest = 2_000;

/** Stored before its effect (M7). */
export type Entry =
  | Readonly<{
      kind: 'user';
      item?: string;
      sender?: string;
      /** The running turn that it joined (H11). */
      joins?: string;
      content: string | readonly Anthropic.ContentBlockParam[];
      context?: string;
      about?: string;
      /** Nobody typed it now: a routine's task or an event (S13). */
      unattended?: true;
      /** Questions of runs (U14). */
      asked?: readonly Readonly<{ skill: string; text: string }>[];
      /** An inline skill that the person started (I6). */
      follows?: ActiveSkill;
      /** Runs whose question this may answer (U14). */
      answers?: readonly string[];
      /** Typed by the sender, by `addressOf` (S7). */
      urls?: readonly string[];
      /** Before the content (M12). */
      files?: readonly ShownFile[];
      /** Told to the person if no file could be fetched. */
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
      /** Absent: no model sees its thinking again (M13). */
      binding?: string;
      at: number;
    }>
  /** Interrupted if no `tool_result` follows. */
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
      /** Model calls of a subagent: they count as this run's (U7). */
      steps?: number;
      at: number;
    }>
  | Readonly<{ kind: 'notice'; text: string; at: number }>
  /** In a journal: something private began (S7). */
  | Readonly<{ kind: 'mark'; marks: Taint; at: number }>
  /** Replaces all earlier entries but the last `kept` (M9). */
  | Readonly<{
      kind: 'summary';
      text: string;
      kept: number;
      /** Kept ones shown as the person's words alone. */
      folded?: number;
      senders?: readonly string[];
      own?: Readonly<{ sender: string; text: string }>;
      marks?: Taint;
      tokens: Tokens;
      at: number;
    }>;

/** Until the end of the turn, also after a crash (U8, T6). */
export type ActiveSkill = Readonly<{
  skill: string;
  allowedTools?: readonly string[];
  disallowedTools?: readonly string[];
}>;

export function unparsedInput(written: string): Readonly<Record<string, string>> {
  return { [key]: written.slice(0, longest) };
}

export function isUnparsed(input: unknown): boolean {
  return typeof input === 'object' && input !== null && Object.hasOwn(input, key);
}

/** Private data (S7): of one skill (its name), or `true`. */
export type Taint = string | true;

export function joinTaint(one: Taint | undefined, other: Taint | undefined): Taint | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one === other ? one : true;
}

/** Damaged entries might be private (S7). */
export function taintIn(entries: readonly Entry[], damaged = 0): Taint | undefined {
  const unknown = damaged > 0 ? true : undefined;
  return entries.reduce<Taint | undefined>(
    (marks, entry) => ('marks' in entry ? joinTaint(marks, entry.marks) : marks),
    unknown,
  );
}
