import type { ActiveSkill } from './entry.ts';
import type { Taint } from './taint.ts';
import type { DeliveredFile, Requester, Risk } from './tool.ts';

/** Unchecked. */
export type ToolCall = Readonly<{
  id: string;
  name: string;
  input: unknown;
}>;

/** Redacted and cut (M3). */
export type ToolOutcome = Readonly<{
  content: string;
  isError: boolean;
  /** `content` is this skill's instructions: they are stored together (T6). */
  follows?: ActiveSkill;
  /** Done once this outcome is stored. */
  settles?: string;
  /** A person has to answer first: `content` means nothing (U14). */
  asks?: string;
  artifacts?: readonly DeliveredFile[];
  /** `content` is private: stored with it (S7). */
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
/** For the audit (L6). `tool_call_blocked`: outside the ceiling (T5). */
export type AuditedCall = Readonly<{
  event: 'tool_call' | 'tool_call_blocked';
  id: string;
  /** On one line. */
  tool: string;
  requester: Requester;
  /** JSON, redacted, at most 200,000 characters. */
  input: string;
  /** Absent for an unknown tool. */
  risk?: Risk;
  /** `allowed`, `approved`, `unanswered` or why not. */
  policy?: string;
  approvedBy?: string;
  ok: boolean;
  codes: readonly string[];
  durationMs: number;
}>;

/** For a call whose outcome was lost (M7). */
export const interrupted =
  'interrupted: the call was cut off before its outcome was known. It may have had its effect; check before repeating it.';
