import type { Words } from './texts/say.ts';

/** A send that the platform did not take, told apart by what may be done about it (Q6, H8). */
export class SendError extends Error {
  override readonly name = 'SendError';
  /** `retry`: not taken, try again (after `retryAfterMs`). `unknown`: may have been taken. `refused`: never will be. */
  readonly outcome: 'retry' | 'unknown' | 'refused';
  readonly retryAfterMs: number | undefined;
  /** The chat's new id, where the platform says that it moved (A6). Not qualified. */
  readonly movedTo: string | undefined;
  /** Why a file was refused, in words for the person it was meant for. */
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

/** A file that a person sent and the bot could not fetch. `message` is for the log. */
export class FetchFileError extends Error {
  override readonly name = 'FetchFileError';
  /** The reason for the person and the model, without a full stop: "larger than 20 MB, the most Telegram gives to a bot". */
  readonly sentence: Words;
  /** Another try may succeed. */
  readonly passing: boolean;

  constructor(message: string, more: { sentence: Words; passing?: boolean; cause?: unknown }) {
    super(message, { cause: more.cause });
    this.sentence = more.sentence;
    this.passing = more.passing ?? false;
  }
}

/** What a model's API said, and of which settings: its key, the account of that, or `model` and `base_url`. */
export type ForOperator = Readonly<{ said: string; look: 'key' | 'account' | 'endpoint' }>;

/** A language model that gave no usable answer. `message` is for the log; `sentence` is what a person sees (M4). */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly sentence: string;
  /** The fault passes by itself: the turn may be tried again later. */
  readonly passing: boolean;
  /** The prompt does not fit the model's window: a shorter one may (M3). */
  readonly tooLong: boolean;
  /** It is too long in bytes: fewer pictures help more than fewer words (M12). */
  readonly tooLarge: boolean;
  /** A picture or document in the request is what was refused (M12). */
  readonly aboutFiles: boolean;
  /** For the operator: the API's own words, and where to look; absent where they can't help. */
  readonly forOperator: ForOperator | undefined;

  constructor(
    message: string,
    more: {
      sentence: string;
      passing: boolean;
      tooLong?: boolean;
      tooLarge?: boolean;
      aboutFiles?: boolean;
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
    this.forOperator = more.forOperator;
  }
}

/** Something the operator must fix: `message` names the place and the fix, and is printed without a stack. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
