import type { Clock } from '../../lib/clock.ts';

/**
 * Runs the task of an id once in ten minutes, and again if it failed. Slash commands and presses have no row that could
 * show a replay (S1), and a signature is valid for 5 minutes before and after.
 */
export function createOnceGuard(clock: Clock) {
  const seen = new Map<string, number>();
  return async <Result>(id: string, task: () => Promise<Result>): Promise<Result | undefined> => {
    const now = clock.now();
    for (const [old, at] of seen) {
      if (now - at < 600_000) break;
      seen.delete(old);
    }
    if (seen.has(id)) return undefined;
    seen.set(id, now);
    try {
      return await task();
    } catch (error) {
      seen.delete(id);
      throw error;
    }
  };
}
