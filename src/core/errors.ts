import type { Words } from './texts/say.ts';

/** By what may be done about it (Q6, H8). */
export class SendError extends Error {
  override readonly name = 'SendError';
  /** `retry`: not taken. `unknown`: perhaps taken. `refused`: never will be. */
  readonly outcome: 'retry' | 'unknown' | 'refused';
  readonly retryAfterMs: number | undefined;
  /** Not qualified (A6). */
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
  /** Without a full stop: "larger than 20 MB, the most Telegram gives to a bot". */
  readonly sentence: Words;
  readonly passing: boolean;

  constructor(message: string, more: { sentence: Words; passing?: boolean; cause?: unknown }) {
    super(message, { cause: more.cause });
    this.sentence = more.sentence;
    this.passing = more.passing ?? false;
  }
}

export type ForOperator = Readonly<{ said: string; look: 'key' | 'account' | 'endpoint' }>;

/** `message`: for the log; `sentence`: for people (M4). */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly sentence: string;
  readonly passing: boolean;
  /** A shorter prompt may fit (M3). */
  readonly tooLong: boolean;
  /** Fewer pictures may fit (M12). */
  readonly tooLarge: boolean;
  /** A picture or document was refused (M12). */
  readonly aboutFiles: boolean;
  /** What the API said, in one line; undefined if it said nothing. */
  readonly said: string | undefined;
  readonly forOperator: ForOperator | undefined;

  constructor(
    message: string,
    more: {
      sentence: string;
      passing: boolean;
      tooLong?: boolean;
      tooLarge?: boolean;
      aboutFiles?: boolean;
      said?: string;
      forOperator?: ForOperator;
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
  }
}

/** `message`: place and fix; printed without a stack. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
