import type Anthropic from '@anthropic-ai/sdk';
import type { Share, Tokens } from './model.ts';
import type { ShownFile } from './received.ts';
import type { DeliveredFile } from './tool.ts';

const key = 'arguments that were no JSON';

const longest = 2_000;

/** One line of a transcript. It is stored before its effect, so that a restart resumes there (M7). */
export type Entry =
  | Readonly<{
      kind: 'user';
      item?: string;
      sender?: string;
      /** The item of the running turn that this message joined (H11). */
      joins?: string;
      content: string | readonly Anthropic.ContentBlockParam[];
      context?: string;
      about?: string;
      /** Nobody typed it now: it is the task of a routine, or an event (S13). */
      unattended?: true;
      /** Questions of runs that wait for an answer. The model reads them with this message (U14). */
      asked?: readonly Readonly<{ skill: string; text: string }>[];
      /** The inline skill that the person started with this message (I6). */
      activeSkill?: ActiveSkill;
      /** Ids of the runs whose question this message may answer (U14). */
      answers?: readonly string[];
      /** Addresses that the sender typed, normalized by `addressOf` (S7). */
      urls?: readonly string[];
      /** Pictures and documents that the model sees before the content (M12). */
      files?: readonly ShownFile[];
      /** What the person is told if none of the files could be fetched. */
      unread?: string;
      taint?: Taint;
      at: number;
    }>
  | Readonly<{
      kind: 'assistant';
      content: readonly Anthropic.ContentBlock[];
      stopReason: Anthropic.StopReason;
      tokens: Tokens;
      model: string;
      /** Its thinking is sent back only in a request with the same binding. Undefined: never (M13). */
      binding?: string | undefined;
      /** The server to which the blocks of its own tools are sent back (M20). Undefined: to none. */
      server?: string | undefined;
      /** The models that were asked, in order, if the chosen one gave no answer (M18). */
      shares?: readonly Share[];
      at: number;
    }>
  /** A tool call began. It was interrupted if no `tool_result` follows. */
  | Readonly<{
      kind: 'tool_started';
      toolUseId: string;
      /** True if it waits for a person, so that it can be repeated. The last entry of a call counts (X9). */
      waits?: true;
      at: number;
    }>
  | Readonly<{
      kind: 'tool_result';
      toolUseId: string;
      content: string;
      isError: boolean;
      /** Set if the content is the instructions of this skill (U8). */
      activeSkill?: ActiveSkill;
      artifacts?: readonly DeliveredFile[];
      taint?: Taint;
      /** Model calls of a subagent, which count as calls of this run (U7). */
      steps?: number;
      at: number;
    }>
  | Readonly<{ kind: 'notice'; text: string; at: number }>
  /** In a journal: private data came into the conversation (S7). */
  | Readonly<{ kind: 'taint'; taint: Taint; at: number }>
  /** Takes the place of all earlier entries except the last `kept` (M9). */
  | Readonly<{
      kind: 'summary';
      text: string;
      kept: number;
      /** How many of the kept entries the model sees only as the person's words. */
      folded?: number;
      senders?: readonly string[];
      own?: Readonly<{ sender: string; text: string }>;
      taint?: Taint;
      tokens: Tokens;
      /** Whose tokens these are, if not only the chosen model's (M18). */
      shares?: readonly Share[];
      at: number;
    }>;

/** Whether a call began and does not wait for a person. Without a result, its outcome is not known. */
export function isUnderWay(entries: readonly Entry[], toolUseId: string): boolean {
  const last = entries.findLast((entry) => entry.kind === 'tool_started' && entry.toolUseId === toolUseId);
  return last?.kind === 'tool_started' && last.waits !== true;
}

/** A skill that the main agent follows until the end of the turn, also after a crash (U8, T6). */
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

/** Marks private data (S7): the name of the one skill it is from, or `true` for several or an unknown one. */
export type Taint = string | true;

export function joinTaint(one: Taint | undefined, other: Taint | undefined): Taint | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one === other ? one : true;
}

/** The taint of a transcript. A damaged entry might have been private, so it counts as such (S7). */
export function taintIn(entries: readonly Entry[], damaged = 0): Taint | undefined {
  const unknown = damaged > 0 ? true : undefined;
  return entries.reduce<Taint | undefined>(
    (taint, entry) => ('taint' in entry ? joinTaint(taint, entry.taint) : taint),
    unknown,
  );
}
