import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Store } from '../stores/store.ts';

const everyMs = 3_600_000;

/** Has the store remove what is older than the retention of the config in force (Q12), every hour until the signal is aborted. */
export async function keepTidy(options: {
  store: Pick<Store, 'prune'>;
  days(): number;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
}): Promise<void> {
  const { store, days, clock, log, signal } = options;
  while (!signal.aborted) {
    await store
      .prune(clock.now(), days() * 86_400_000)
      .catch((error: unknown) => log.error({ err: error }, 'the store could not be tidied'));
    await clock.sleep(everyMs, signal).catch(() => undefined);
  }
}
