import type { Tokens } from '../core/model.ts';
import type { Delivered } from '../core/tool.ts';

/** What a loop did, whatever became of it. */
export type LoopWork = Readonly<{
  /**
   * The final text. Of a loop that was stopped or ran out of steps, everything the model said so far (U5), which may be
   * nothing; after `MODEL_ERROR`, one plain sentence for a person (M4).
   */
  text: string;
  /** Model calls of the turn, those before a restart included; the one that sums up is not counted. */
  iterations: number;
  /** Tokens of the turn, every call included. */
  tokens: Tokens;
  /** Files that its calls handed over. */
  artifacts: readonly Delivered[];
}>;

/** How a loop ended. */
export type LoopEnd = Readonly<
  | { status: 'ok'; code?: undefined; passing?: undefined }
  /** A call waits for a person, whose answer lets the same turn go on (U14). `text` is the question. */
  | { status: 'needs_input'; code?: undefined; passing?: undefined }
  /** With text so far. Without a code: the answer was cut at the model's length limit, and the text says so. */
  | { status: 'partial'; code?: 'MAX_ITERATIONS' | 'TIMEOUT' | 'CANCELLED'; passing?: undefined }
  | { status: 'error'; code: 'TIMEOUT' | 'CANCELLED' | 'EMPTY_RESULT'; passing?: undefined }
  /** `passing`: the same turn may work when tried again later. */
  | { status: 'error'; code: 'MODEL_ERROR'; passing: boolean }
>;

export type LoopResult = LoopWork & LoopEnd;
