import type { ActiveSkill, Taint } from './entry.ts';
import type { DeliveredFile, Requester, Risk } from './tool.ts';

export type ToolCall = Readonly<{
  id: string;
  name: string;
  input: unknown;
}>;

/** The outcome of a tool call for the model, redacted and cut (M3). */
export type ToolOutcome = Readonly<{
  content: string;
  isError: boolean;
  /** Set if `content` is the instructions of this skill, which are stored with it (T6). */
  activeSkill?: ActiveSkill;
  /** Id of an inbox item that is done once this outcome is stored. */
  finishesItem?: string;
  /** A question for the person. The loop ends until they answer, and `content` is ignored (U14). */
  question?: string;
  artifacts?: readonly DeliveredFile[];
  /** Set if `content` is private; stored together with it (S7). */
  taint?: Taint;
  /** Model calls that the call made, which count as the caller's (U7). */
  steps?: number;
}>;

/**
 * Calls a tool; nothing else in the bot has effects for a model. Failures are outcomes (T11). It rejects only if the
 * store fails; then the turn repeats the call (Q5, Q11). `begin` runs right before the tool, after every check and
 * question, and around each wait for a person.
 */
export type CallTool = (call: ToolCall, signal: AbortSignal, begin?: BeginCall) => Promise<ToolOutcome>;
/** Stores that a call began, that it waits for a person, or that it continues after that. */
export type BeginCall = (waits?: true) => Promise<void>;

/** A tool call as the audit records it (L6). `tool_call_blocked`: the tool is not among the allowed ones (T5). */
export type AuditedCall = Readonly<{
  event: 'tool_call' | 'tool_call_blocked';
  id: string;
  tool: string;
  requester: Requester;
  /** The input as JSON, redacted, at most 200,000 characters. */
  input: string;
  risk?: Risk;
  /** What policy decided: `allowed`, `approved`, `unanswered`, or why it was refused. */
  policy?: string;
  approvedBy?: string;
  ok: boolean;
  codes: readonly string[];
  durationMs: number;
}>;

/** The result that a model reads of a call whose outcome was lost in a crash (M7). */
export const interrupted =
  'interrupted: the call was cut off before its outcome was known. It may have had its effect; check before repeating it.';
