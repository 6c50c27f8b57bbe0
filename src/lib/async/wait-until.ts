import type { Clock } from '../clock.ts';
import { raceTimeout } from './deadline.ts';
import { onAbort } from './on-abort.ts';

/**
 * Looks again and again until something is found. `look` returns it, or after how many milliseconds it is worth another
 * look. In between it sleeps; `subscribe` hands out what wakes it and returns what ends that. After an abort it looks once
 * more, and rejects with the signal's reason if nothing is found.
 */
export async function waitUntil<Found>(
  look: () => Promise<Readonly<{ found: Found }> | number>,
  options: Readonly<{
    signal: AbortSignal;
    clock: Clock;
    subscribe(wake: () => void): () => void;
  }>,
): Promise<Found> {
  const { signal, clock, subscribe } = options;
  let woken = Promise.withResolvers<void>();
  const wake = (): void => woken.resolve();
  const unsubscribe = subscribe(wake);
  const stopListening = onAbort(signal, wake);
  try {
    for (;;) {
      woken = Promise.withResolvers();
      const isLast = signal.aborted;
      const seen = await look();
      if (typeof seen !== 'number') return seen.found;
      if (isLast) throw signal.reason;
      await raceTimeout(clock, woken.promise, seen);
    }
  } finally {
    stopListening();
    unsubscribe();
  }
}
