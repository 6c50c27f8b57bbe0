import type { Channel } from '../core/channel.ts';
import type { Clock } from '../core/clock.ts';
import type { Conversation } from '../core/conversation.ts';

/** What a person sees while the bot works: typing at once, after a few seconds a line that changes (U13, H7). */
export type ShowWork = Readonly<{
  begin(conversation: Conversation): Readonly<{ progress(text: string): void; end(): Promise<void> }>;
}>;

/** Shorter work is not worth a line of its own. */
const quietMs = 3_000;

export function createShowWork(options: { channels: ReadonlyMap<string, Channel>; clock: Clock }): ShowWork {
  const { channels, clock } = options;
  return {
    begin(conversation) {
      const channel = channels.get(conversation.channel);
      const over = new AbortController();
      const began = clock.now();
      let line: string | undefined;
      let last = Promise.resolve(channel?.status(conversation, { kind: 'typing' }));
      const show = (): void => {
        if (line === undefined || over.signal.aborted) return;
        const text = line;
        last = last.then(() => channel?.status(conversation, { kind: 'line', text }));
      };
      clock.sleep(quietMs, over.signal).then(show, () => undefined);
      return {
        progress(text) {
          line = text;
          if (clock.now() - began >= quietMs) show();
        },
        async end() {
          over.abort();
          await last;
          await channel?.status(conversation, undefined);
        },
      };
    },
  };
}
