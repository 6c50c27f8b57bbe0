/** A refusal of the Bot API: what the answer's `error_code`, `description` and `parameters` say. */
export class BotApiError extends Error {
  override readonly name = 'BotApiError';
  readonly code: number;
  readonly parameters: Readonly<Record<string, number>> | undefined;

  constructor(code: number, description: string, parameters?: Readonly<Record<string, number>>) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

export function badRequest(reason: string, parameters?: Readonly<Record<string, number>>): BotApiError {
  return new BotApiError(400, `Bad Request: ${reason}`, parameters);
}

export function forbidden(reason: string): BotApiError {
  return new BotApiError(403, `Forbidden: ${reason}`);
}

export function conflict(reason: string): BotApiError {
  return new BotApiError(409, `Conflict: ${reason}`);
}

/** `seconds` is rounded up to a whole second, as the platform does. */
export function tooManyRequests(seconds: number): BotApiError {
  const after = Math.max(1, Math.ceil(seconds));
  return new BotApiError(429, `Too Many Requests: retry after ${after}`, { retry_after: after });
}
