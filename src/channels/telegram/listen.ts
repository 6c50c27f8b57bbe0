import type { Bot } from 'grammy';
import type { Update, UserFromGetMe } from 'grammy/types';
import { albumOf } from './join-parts.ts';
import type { Me } from './message-parts.ts';
import {
  toEdited,
  fromTelegramPress,
  fromTelegramReaction,
  fromTelegramSaid,
  fromTelegramStanding,
  fromTelegramStop,
} from './to-event.ts';
import type { ChannelEvent, OnEvent, Press } from '../../core/channel.ts';
import type { Message } from '../../core/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';

export type TelegramListening = Readonly<{
  /** Looks at a whole batch before it is handled, because a later piece of an album may address the bot (H3). */
  foresee(updates: readonly Update[]): void;
}>;

/**
 * Passes each kind of update on. `bot.handleUpdate` resolves once the update is stored, and rejects if it has to come
 * again (Q1). It also resolves for updates that can't be read, so that they block no other.
 */
export function listenToTelegram(
  bot: Bot,
  options: Readonly<{
    /** Commands that count without `@bot`; undefined if they are not known yet. */
    commands: () => ReadonlySet<string> | undefined;
    onEvent: OnEvent;
    stored: (message: Message) => void;
    pressed: (press: Press, words?: string) => void;
    clock: Clock;
    log: Log;
  }>,
): TelegramListening {
  const { commands, onEvent, stored, pressed, clock, log } = options;
  let addressedAlbums: ReadonlySet<string | undefined> = new Set();

  const asMe = ({ id, username }: UserFromGetMe): Me => ({ id, username, commands: commands() });
  const read = (update: Update, convert: Convert) => readUpdate(update, convert, log);

  bot.on(['message', 'channel_post'], async ({ update, msg, me }) => {
    const event = read(update, () => fromTelegramSaid(msg, asMe(me)));
    if (event?.type !== 'message') return event && onEvent(event);
    const addressed = event.message.addressed || addressedAlbums.has(albumOf(msg));
    const message = { ...event.message, addressed };
    return onEvent({ ...event, message, stored: () => stored(message) });
  });
  bot.on(['edited_message', 'edited_channel_post'], async ({ update, msg, me }) => {
    const event = read(update, () => toEdited(msg, asMe(me)));
    return event && onEvent(event);
  });
  bot.on('callback_query', async ({ update, callbackQuery }) => {
    const event = read(update, () => fromTelegramPress(callbackQuery, clock.now()));
    if (event?.type !== 'press') return;
    const told: { words?: string } = {};
    // A skill that is picked from a private list answers in the group, as a typed call does.
    const openThread = async (_: unknown, group = event.press.conversation) => group;
    await onEvent({ ...event, openThread, tell: (words) => void (told.words = words) });
    pressed(event.press, told.words);
  });
  bot.on('stopped_message_generation', async ({ update, stoppedMessageGeneration: stopped }) => {
    const event = read(update, () => fromTelegramStop(stopped, update.update_id));
    return event && onEvent(event);
  });
  bot.on('message_reaction', async ({ update, messageReaction }) => {
    const event = read(update, () => fromTelegramReaction(messageReaction, update.update_id));
    return event && onEvent(event);
  });
  bot.on('my_chat_member', async ({ update, myChatMember }) => {
    const event = read(update, () => fromTelegramStanding(myChatMember));
    return event && onEvent(event);
  });
  bot.use(({ update }) => {
    const kind = Object.keys(update).find((key) => key !== 'update_id') ?? 'empty';
    log.debug({ update: update.update_id, reason: `unused update ${kind}` }, 'Telegram update ignored');
  });

  return {
    foresee(updates) {
      const pieces = updates.flatMap((update) => {
        const said = update.message ?? update.channel_post;
        const album = said && albumOf(said);
        return said === undefined || album === undefined ? [] : [{ update, said, album }];
      });
      const addressed = pieces.filter(({ update, said }) => {
        const event = read(update, () => fromTelegramSaid(said, asMe(bot.botInfo)));
        return event?.type === 'message' && event.message.addressed;
      });
      addressedAlbums = new Set(addressed.map(({ album }) => album));
    },
  };
}

type Convert = () => ReturnType<typeof fromTelegramSaid>;

/** Reads an update. One that is of no use, or that can't be read, is logged. */
function readUpdate(
  { update_id: update, my_chat_member: standing }: Update,
  convert: Convert,
  log: Log,
): ChannelEvent | undefined {
  try {
    const outcome = convert();
    if ('event' in outcome) return outcome.event;
    const level = standing === undefined ? 'debug' : 'info';
    log[level]({ update, reason: outcome.ignored }, 'Telegram update ignored');
  } catch (error) {
    log.error({ update, err: error }, 'skipped a Telegram update that could not be read');
  }
  return undefined;
}
