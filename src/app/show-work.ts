import type { Channel } from '../core/channel.ts';
import type { Clock } from '../core/clock.ts';
import { conversationKey, type Conversation } from '../core/conversation.ts';

/** What a person sees while the bot works: typing at once, after a few seconds a line that changes (U13, H7). */
export type ShowWork = Readonly<{
  begin(conversation: Conversation): Shown;
  /** Resolves when nothing is shown any more that should have gone. */
  settled(): Promise<void>;
}>;

export type Shown = Readonly<{
  progress(text: string): void;
  /** Removes what is shown once `answered` resolves; left alone where newer work shows there by then. */
  end(answered: Promise<void>): void;
}>;

/** Shorter work is not worth a line of its own. */
const quietMs = 3_000;

export function createShowWork(options: { channels: ReadonlyMap<string, Channel>; clock: Clock }): ShowWork {
  const { channels, clock } = options;
  const newest = new Map<string, Shown>();
  const ending = new Set<Promise<void>>();

  function begin(conversation: Conversation): Shown {
    const channel = channels.get(conversation.channel);
    const key = conversationKey(conversation);
    const over = new AbortController();
    const began = clock.now();
    let line: string | undefined;
    let last = Promise.resolve(channel?.status(conversation, { kind: 'typing' }));
    const show = (): void => {
      if (line === undefined || over.signal.aborted) return;
      const text = line;
      last = last.then(() => channel?.status(conversation, { kind: 'line', text }));
    };
    const clear = async (answered: Promise<void>): Promise<void> => {
      await Promise.allSettled([answered, last]);
      if (newest.get(key) !== shown) return;
      newest.delete(key);
      await channel?.status(conversation, undefined);
    };
    clock.sleep(quietMs, over.signal).then(show, () => undefined);
    const shown: Shown = {
      progress(text) {
        line = text;
        if (clock.now() - began >= quietMs) show();
      },
      end(answered) {
        over.abort();
        const cleared = clear(answered).finally(() => ending.delete(cleared));
        ending.add(cleared);
      },
    };
    newest.set(key, shown);
    return shown;
  }

  return {
    begin,
    async settled() {
      await Promise.all(ending);
    },
  };
}
