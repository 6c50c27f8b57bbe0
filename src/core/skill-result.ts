import type { ErrorCode } from './codes.ts';
import type { Marks } from './taint.ts';
import type { Tokens } from './model.ts';
import type { Delivered } from './tool.ts';

export type SkillStatus = 'ok' | 'partial' | 'error' | 'running' | 'needs_input';

/** What a run gives back: data, never a message to a person (U4). */
export type SkillResult = Readonly<{
  status: SkillStatus;
  code?: ErrorCode;
  text: string;
  /** Model calls made. */
  iterations: number;
  durationMs: number;
  tokens: Tokens;
  /** Files that went to the conversation already (T12). */
  artifacts: readonly Delivered[];
  /** With `needs_input`, where `text` is the question: what the run is gone on with by (U14). */
  resume?: string;
  /** It holds what a sensitive skill or a capability gave (S7). */
  marks?: Marks;
  /** The text was cut at 30,000 characters. */
  truncated: boolean;
}>;
