import type { Clock } from '../clock.ts';

/**
 * Time for measuring waits in memory: milliseconds that never go back. Where the clock is set back (an operator, a time
 * server), this one goes on from where it was, so that nothing waits for the old time to come again.
 */
export function steadyTime(clock: Clock): () => number {
  let ahead = 0;
  let seen = clock.now();
  return () => {
    const now = clock.now();
    if (now < seen) ahead += seen - now;
    seen = now;
    return now + ahead;
  };
}
