import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Store } from '../store/store.ts';
import type { KeptFiles } from './kept-files.ts';

const everyMs = 3_600_000;

/** Removes what is past keeping from the store and the workspace: at the start, and then every hour until the signal is aborted (Q12). */
export async function keepTidy(options: {
  store: Pick<Store, 'prune' | 'inbox'>;
  files: Pick<KeptFiles, 'tidy'>;
  /** Retention of the config in force. */
  days(): number;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
}): Promise<void> {
  const { store, files, days, clock, log, signal } = options;
  while (!signal.aborted) {
    const now = clock.now();
    const keptMs = days() * 86_400_000;
    await store
      .prune(now, keptMs)
      .catch((error: unknown) => log.error({ err: error }, 'the store could not be tidied'));
    await store.inbox
      .list('waiting')
      .then((waiting) => files.tidy(now, keptMs, waiting))
      .catch((error: unknown) => log.error({ err: error }, 'the workspace could not be tidied'));
    await clock.sleep(everyMs, signal).catch(() => undefined);
  }
}
