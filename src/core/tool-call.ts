import type { ActiveSkill, Taint } from './entry.ts';
import type { DeliveredFile, Requester, Risk } from './tool.ts';

export type ToolCall = Readonly<{
  id: string;
  name: string;
  input: unknown;
}>;

/** Redacted and cut (M3). */
export type ToolOutcome = Readonly<{
  content: string;
  isError: boolean;
  /** Stored with this skill's instructions (T6). */
  follows?: ActiveSkill;
  /** Done once this outcome is stored. */
  settles?: string;
  /** A person answers first; ignore `content` (U14). */
  asks?: string;
  artifacts?: readonly DeliveredFile[];
  /** `content` is private: stored with it (S7). */
  marks?: Taint;
  /** Model calls that it took (U7). */
  steps?: number;
}>;

/**
 * The only way to effects. Failures are outcomes (T11). Rejects only if the store fails; the turn repeats the call
 * (Q5, Q11). `begin`: right before the tool runs, after every check and question.
 */
export type CallTool = (
  call: ToolCall,
  signal: AbortSignal,
  begin?: () => Promise<void>,
) => Promise<ToolOutcome>;
/** L6. `tool_call_blocked`: not in the allowed tools (T5). */
export type AuditedCall = Readonly<{
  event: 'tool_call' | 'tool_call_blocked';
  id: string;
  tool: string;
  requester: Requester;
  /** JSON, redacted, at most 200,000 characters. */
  input: string;
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
