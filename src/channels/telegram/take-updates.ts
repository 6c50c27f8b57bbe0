import type { Update } from 'grammy/types';
import { albumOf } from './join-parts.ts';
import type { Me } from './message-parts.ts';
import { toEvent } from './to-event.ts';
import type { ChannelEvent, OnEvent, Press } from '../../core/channel.ts';
import type { Message } from '../../core/message.ts';
import type { Log } from '../../lib/log.ts';

export type TakeUpdates = Readonly<{
  /** Sees a whole batch first: a later piece of an album may address the bot (H3). */
  foresee(updates: readonly Update[]): void;
  /** Unreadable ones resolve, too, to block no other (Q1). */
  take(update: Update): Promise<void>;
}>;

export function createTakeUpdates(options: {
  me: () => Me;
  onEvent: OnEvent;
  stored: (message: Message) => void;
  pressed: (press: Press, words?: string) => void;
  log: Log;
}): TakeUpdates {
  const { me, onEvent, stored, pressed, log } = options;
  let addressedAlbums: ReadonlySet<string | undefined> = new Set();
  const read = (update: Update): ChannelEvent | undefined => readUpdate(update, me(), log);
  return {
    foresee(updates) {
      const pieces = updates.filter((update) => albumOf(update) !== undefined);
      addressedAlbums = new Set(pieces.filter((piece) => isAddressed(read(piece))).map(albumOf));
    },
    async take(update) {
      const event = read(update);
      if (event === undefined) return;
      if (event.type === 'message') {
        const addressed = event.message.addressed || addressedAlbums.has(albumOf(update));
        const message = { ...event.message, addressed };
        return onEvent({ ...event, message, stored: () => stored(message) });
      }
      if (event.type !== 'press') return onEvent(event);
      const told: { words?: string } = {};
      await onEvent({ ...event, tell: (words) => void (told.words = words) });
      pressed(event.press, told.words);
    },
  };
}

function readUpdate(update: Update, me: Me, log: Log): ChannelEvent | undefined {
  try {
    const outcome = toEvent(update, me);
    if ('event' in outcome) return outcome.event;
    const level = update.my_chat_member === undefined ? 'debug' : 'info';
    log[level]({ update: update.update_id, reason: outcome.ignored }, 'Telegram update ignored');
  } catch (error) {
    log.error({ update: update.update_id, err: error }, 'Telegram update could not be read: skipped');
  }
  return undefined;
}

function isAddressed(event: ChannelEvent | undefined): boolean {
  return event?.type === 'message' && event.message.addressed;
}
