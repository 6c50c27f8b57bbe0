import type { FallbackCause } from './model.ts';
import type { Words } from './texts/say.ts';

/** A message could not be sent. `outcome` says what can be done about it (Q6, H8). */
export class SendError extends Error {
  override readonly name = 'SendError';
  /** `retry`: the platform did not accept it. `unknown`: it may have. `refused`: it never will. */
  readonly outcome: 'retry' | 'unknown' | 'refused';
  readonly retryAfterMs: number | undefined;
  /** The chat's new id, without its channel, if the platform moved the chat (A6). */
  readonly movedTo: string | undefined;
  readonly sentence: Words | undefined;

  constructor(
    outcome: SendError['outcome'],
    message: string,
    more: { cause?: unknown; retryAfterMs?: number; movedTo?: string; sentence?: Words } = {},
  ) {
    super(message, { cause: more.cause });
    this.outcome = outcome;
    this.retryAfterMs = more.retryAfterMs;
    this.movedTo = more.movedTo;
    this.sentence = more.sentence;
  }
}

export class FetchFileError extends Error {
  override readonly name = 'FetchFileError';
  /** The reason for people, without a full stop: "larger than 20 MB, the most Telegram gives to a bot". */
  readonly sentence: Words;
  readonly passing: boolean;

  constructor(message: string, more: { sentence: Words; passing?: boolean; cause?: unknown }) {
    super(message, { cause: more.cause });
    this.sentence = more.sentence;
    this.passing = more.passing ?? false;
  }
}

export type ForOperator = Readonly<{ said: string; look: 'key' | 'account' | 'endpoint' }>;

/** A request to a model failed. `message` is for the log, `sentence` for people (M4). */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly sentence: string;
  readonly passing: boolean;
  /** True if a shorter prompt may be accepted (M3). */
  readonly tooLong: boolean;
  /** True if a request with fewer pictures may be accepted (M12). */
  readonly tooLarge: boolean;
  /** True if the API refused a picture or document (M12). */
  readonly aboutFiles: boolean;
  /** What the API said, on one line; undefined if it said nothing. */
  readonly said: string | undefined;
  readonly forOperator: ForOperator | undefined;
  /** Why another model may answer instead (M18). Undefined: it would fail, too. */
  readonly why: FallbackCause | undefined;

  constructor(
    message: string,
    more: {
      sentence: string;
      passing: boolean;
      tooLong?: boolean;
      tooLarge?: boolean;
      aboutFiles?: boolean;
      said?: string;
      forOperator?: ForOperator | undefined;
      why?: FallbackCause | undefined;
      cause?: unknown;
    },
  ) {
    super(message, { cause: more.cause });
    this.sentence = more.sentence;
    this.passing = more.passing;
    this.tooLong = more.tooLong ?? false;
    this.tooLarge = more.tooLarge ?? false;
    this.aboutFiles = more.aboutFiles ?? false;
    this.said = more.said;
    this.forOperator = more.forOperator;
    this.why = more.why;
  }
}

/** An error that the operator can fix. `message` names the place and the fix; it is printed without a stack. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
