import type { Clock } from '../../lib/clock.ts';

const maxTries = 4;
const budgetMs = 120_000;
const firstWaitMs = 500;
const longestWaitMs = 8_000;

/** Whether to try again, and after how many milliseconds. */
export type Verdict = Readonly<
  | { again: false; later?: undefined }
  /** `later` is set if a person has waited long already, and another model may answer now. */
  | { again: true; afterMs?: number | undefined; later?: true }
>;

/**
 * Tries four times within two minutes of the first failure (M4). It waits as the server asks, or 0.5, 1 and 2 s plus up
 * to a quarter. Throws the last failure or the signal's reason.
 */
export async function withRetries<T>(
  attempt: (number: number) => Promise<T>,
  options: Readonly<{
    judge(error: unknown): Verdict;
    onRetry(error: unknown, waitMs: number): void;
    clock: Clock;
    signal: AbortSignal;
    random(): number;
  }>,
): Promise<T> {
  const { judge, onRetry, clock, signal, random } = options;
  let deadline: number | undefined;
  for (let number = 1; ; number++) {
    signal.throwIfAborted();
    try {
      return await attempt(number);
    } catch (error) {
      signal.throwIfAborted();
      deadline ??= clock.now() + budgetMs;
      const verdict = judge(error);
      if (!verdict.again || verdict.later === true || number === maxTries) throw error;
      const wanted = verdict.afterMs ?? Math.min(longestWaitMs, firstWaitMs * 2 ** (number - 1));
      const waitMs = Math.round(wanted * (1 + random() / 4));
      if (clock.now() + waitMs > deadline) throw error;
      onRetry(error, waitMs);
      await clock.sleep(waitMs, signal);
    }
  }
}
