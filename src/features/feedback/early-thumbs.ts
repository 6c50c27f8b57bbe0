import type { App } from '../../app.ts';
import type { Press } from '../../core/channel.ts';
import { onAbort } from '../../lib/async/on-abort.ts';

/** A reaction on a message that is no answer as far as the store knows. `words` are those of its action. */
type Early = Readonly<{ press: Press; words: readonly string[] }>;

/**
 * Reactions that come before the bot knows under which id its answer is shown, because the platform was slow to say so
 * (U17). They are stored, and matched once the id is known.
 */
export type EarlyThumbs = Readonly<{
  keep(early: Early): Promise<void>;
  /** Matches what is kept until the bot stops, first what another process left. */
  attend(): Promise<void>;
}>;

/** Most reactions that are kept are on messages of people, so they are not kept for long. Milliseconds. */
const keptMs = 60_000;
const lookEveryMs = 500;

/** `give` returns whether the message is an answer by now. */
export function createEarlyThumbs(
  { store, clock, stopping, log }: App,
  give: (early: Early) => Promise<boolean>,
): EarlyThumbs {
  const kept = store.keyed('early-thumbs');
  let more = Promise.withResolvers<void>();

  async function match(): Promise<boolean> {
    let isAny = false;
    for await (const [key, early] of kept.iterator()) {
      isAny = true;
      if (await give(early as Early)) await kept.delete(String(key));
    }
    return isAny;
  }

  return {
    async keep({ press, words }) {
      await kept.set(`${press.sender.id} ${press.id}`, { press, words }, keptMs);
      more.resolve();
    },
    async attend() {
      const stopListening = onAbort(stopping, () => more.resolve());
      while (!stopping.aborted) {
        more = Promise.withResolvers();
        const isAny = await match().catch((error: unknown) => {
          log.error({ err: error }, 'early thumbs could not be matched');
          return true;
        });
        if (stopping.aborted) break;
        await (isAny ? clock.sleep(lookEveryMs, stopping).catch(() => undefined) : more.promise);
      }
      stopListening();
    },
  };
}
