export type HookOutcome =
  | 'accepted'
  | 'repeated'
  | 'unknown'
  | 'forged'
  | 'stale'
  | 'too_large'
  | 'malformed'
  | 'cut_off'
  | 'limited'
  | 'denied'
  | 'failed';

/** The answer to a sender. `retryAfter` is in seconds. */
export type HookAnswer = Readonly<{
  status: number;
  outcome: HookOutcome;
  body: string;
  retryAfter?: number;
}>;
