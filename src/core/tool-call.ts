import type { ActiveSkill } from './entry.ts';
import type { Taint } from './taint.ts';
import type { DeliveredFile, Requester, Risk } from './tool.ts';

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
  /** `content` holds the instructions of this skill: anyone who stores the one stores the other with it (T6). */
  follows?: ActiveSkill;
  /** Inbox item that is done once this outcome is stored: what it would have told stands here. */
  settles?: string;
  /** It has no outcome yet, and `content` means nothing: a person has to answer this first (U14). */
  asks?: string;
  /** Files that it handed over (T12). */
  artifacts?: readonly DeliveredFile[];
  /** `content` holds what a sensitive skill or a capability gave: stored with it (S7). */
  marks?: Taint;
}>;

/**
 * The one door for effects. What goes wrong is an outcome the model can act on (T11). It rejects only where the store can't
 * be used: then the call has no outcome yet, and is made again when its turn continues (Q5, Q11). `begin` is awaited right
 * before the tool runs, when everything before it has agreed: what was asked of a person meanwhile was no start.
 */
export type CallTool = (
  call: ToolCall,
  signal: AbortSignal,
  begin?: () => Promise<void>,
) => Promise<ToolOutcome>;
/** One call as the audit keeps it (L6). `tool_call_blocked`: it was outside the ceiling (T5). */
export type AuditedCall = Readonly<{
  event: 'tool_call' | 'tool_call_blocked';
  id: string;
  /** As the model wrote it, on one line. */
  tool: string;
  requester: Requester;
  /** JSON, redacted, at most 200,000 characters. */
  input: string;
  /** Absent for a tool that does not exist. */
  risk?: Risk;
  /** What policy said, once it was asked: `allowed`, `approved`, `unanswered` or why not. */
  policy?: string;
  approvedBy?: string;
  ok: boolean;
  codes: readonly string[];
  durationMs: number;
}>;

/** What a call whose outcome was lost is answered with (M7). */
export const interrupted =
  'interrupted: the call was cut off before its outcome was known. It may have had its effect; check before repeating it.';
