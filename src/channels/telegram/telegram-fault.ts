/**
 * A call to the Bot API that failed. Safe to log: it holds neither the token (which Telegram's URLs carry, S3) nor what
 * was to be sent.
 * `answered`: Telegram refused. `not_sent`: the request never left. `unknown`: it may have been carried out.
 */
export class TelegramFault extends Error {
  override readonly name = 'TelegramFault';
  readonly kind: 'answered' | 'not_sent' | 'unknown';
  readonly method: string;
  /** Telegram's `error_code`; 0 where there was no answer. */
  readonly code: number;
  /** Telegram's own words; empty where there was no answer. */
  readonly description: string;
  readonly retryAfterMs: number | undefined;
  /** The chat's new id (A6). */
  readonly movedTo: string | undefined;

  constructor(
    kind: TelegramFault['kind'],
    method: string,
    message: string,
    more: {
      code?: number;
      description?: string;
      retryAfterMs?: number;
      movedTo?: string;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: more.cause });
    this.kind = kind;
    this.method = method;
    this.code = more.code ?? 0;
    this.description = more.description ?? '';
    this.retryAfterMs = more.retryAfterMs;
    this.movedTo = more.movedTo;
  }
}

/** Whether Telegram said this of a call. */
export function saidBy(error: unknown, words: RegExp): boolean {
  return error instanceof TelegramFault && error.kind === 'answered' && words.test(error.description);
}
