import type { ActiveSkill, Taint } from './entry.ts';
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
 * The one door for effects. Failures are outcomes for the model (T11). It rejects only if the store fails: then the
 * call is repeated with its turn (Q5, Q11). `begin` is awaited right before the tool runs, after every check and
 * question.
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
