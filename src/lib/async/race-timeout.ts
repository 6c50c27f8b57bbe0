import type { Clock } from '../clock.ts';

/** Resolves when `work` has ended, and after `ms` at the latest. Rejects as `work` does until then. */
export async function waitWithin(clock: Clock, work: Promise<void>, ms: number): Promise<void> {
  const over = new AbortController();
  // Its end by `abort` is told to nobody.
  const time = clock.sleep(ms, over.signal).catch(() => undefined);
  try {
    await Promise.race([work, time]);
  } finally {
    over.abort();
  }
}
