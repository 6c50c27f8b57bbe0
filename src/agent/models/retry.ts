import type { Clock } from '../../lib/clock.ts';

/** Whether a failed try may be repeated, and after how long at the earliest. */
export type Verdict = Readonly<{ again: false } | { again: true; afterMs?: number }>;

const maxTries = 4;
const budgetMs = 120_000;
const firstWaitMs = 500;
const longestWaitMs = 8_000;

/**
 * Tries up to four times, for two minutes from the first failure on: an answer may break off after longer (M4). Waits
 * as long as the failure asks for, else 0.5, 1, 2 s; up to a quarter more, so that many don't return at once. A wait that
 * would overrun the budget is not begun. Throws the last failure, or the signal's reason.
 */
export async function withRetries<T>(
  attempt: (number: number) => Promise<T>,
  options: Readonly<{
    judge(error: unknown): Verdict;
    /** Before a wait: for the log. */
    onRetry(error: unknown, waitMs: number): void;
    clock: Clock;
    signal: AbortSignal;
    /** From 0 to 1. */
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
      if (!verdict.again || number === maxTries) throw error;
      const wanted = verdict.afterMs ?? Math.min(longestWaitMs, firstWaitMs * 2 ** (number - 1));
      const waitMs = Math.round(wanted * (1 + random() / 4));
      if (clock.now() + waitMs > deadline) throw error;
      onRetry(error, waitMs);
      await clock.sleep(waitMs, signal);
    }
  }
}
