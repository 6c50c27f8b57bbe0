import { fixed } from '../core/texts/say.ts';
import type { Clock } from '../lib/clock.ts';

const silentMs = 60_000;

export const stillWaiting = fixed`I’m still waiting for the language model.`;

/** Calls `tell` once if no word comes for a minute. */
export function watchSilence(
  tell: (() => void) | undefined,
  clock: Clock,
): Readonly<{ heard(): void; end(): void }> {
  const over = new AbortController();
  let heardAt = clock.now();

  async function watch(): Promise<void> {
    for (let left = silentMs; left > 0; left = heardAt + silentMs - clock.now())
      await clock.sleep(left, over.signal);
    tell?.();
  }

  if (tell !== undefined) watch().catch(() => undefined);
  return {
    heard() {
      heardAt = clock.now();
    },
    end: () => over.abort('answered'),
  };
}
