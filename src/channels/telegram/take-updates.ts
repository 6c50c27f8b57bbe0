import type { Update } from 'grammy/types';
import type { ChannelEvent, OnEvent, Press } from '../../core/channel.ts';
import type { Log } from '../../lib/log.ts';
import type { Message } from '../../core/message.ts';
import { createJoinParts } from './join-parts.ts';
import type { Me } from './read-text.ts';
import { toEvent } from './to-event.ts';

/** Where updates go, whichever way they came. */
export type TakeUpdates = Readonly<{
  /** Looks at a whole batch before its updates are taken one by one. */
  foresee(updates: readonly Update[]): void;
  /** Resolves when Telegram may be told that it arrived (Q1): stored, rightly ignored, or unreadable (a poisonous update must not block those behind it). Rejects when it could not be stored. */
  take(update: Update): Promise<void>;
}>;

/** `stored`: a message waits for its answer. `pressed`: a press was dealt with; the `words` are for who pressed. */
export function createTakeUpdates(options: {
  me: () => Me;
  onEvent: OnEvent;
  stored: (message: Message) => void;
  pressed: (press: Press, words?: string) => void;
  log: Log;
}): TakeUpdates {
  const { me, onEvent, stored, pressed, log } = options;
  const parts = createJoinParts();

  const read = (update: Update): ChannelEvent | undefined => {
    try {
      const outcome = toEvent(update, me());
      if ('event' in outcome) return outcome.event;
      const level = update.my_chat_member === undefined ? 'debug' : 'info';
      log[level]({ update: update.update_id, reason: outcome.ignored }, 'Telegram update ignored');
    } catch (error) {
      log.error({ update: update.update_id, err: error }, 'Telegram update could not be read: skipped');
    }
    return undefined;
  };

  return {
    foresee(updates) {
      parts.foresee(updates.map(read).filter((event) => event !== undefined));
    },
    async take(update) {
      const event = read(update);
      if (event === undefined) return;
      const joined = parts.join(event);
      if (joined.type === 'message') return onEvent({ ...joined, stored: () => stored(joined.message) });
      if (joined.type !== 'press') return onEvent(joined);
      const told: { words?: string } = {};
      await onEvent({ ...joined, tell: (words) => void (told.words = words) });
      pressed(joined.press, told.words);
    },
  };
}
