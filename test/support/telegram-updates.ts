import assert from 'node:assert/strict';
import type { Update } from 'grammy/types';
import type { ChannelEvent } from '../../src/core/channel.ts';
import type { Message } from '../../src/core/message.ts';
import { createTelegramBot } from '../../src/channels/telegram/telegram-api.ts';
import { listenToTelegram } from '../../src/channels/telegram/listen.ts';
import type { Me } from '../../src/channels/telegram/message-parts.ts';
import {
  toEdited,
  fromTelegramPress,
  fromTelegramSaid,
  fromTelegramStanding,
} from '../../src/channels/telegram/to-event.ts';
import { quietLog } from './quiet-log.ts';
import { detectEntities } from '../servers/telegram/detect-entities.ts';

export const me = { id: 99, username: 'Our_Bot' };
export const ann = { id: 42, is_bot: false, first_name: 'Ann', last_name: 'Lee' };
export const dm = { id: 42, type: 'private', first_name: 'Ann' };
export const group = { id: -1001, type: 'supergroup', title: 'Friends' };

/** A message as Telegram sends it, entities found as Telegram finds them. */
export function said(text: string, more: object = {}): Update {
  const entities = detectEntities(text);
  const message = { message_id: 7, from: ann, chat: dm, date: 1_700_000_000, text, entities, ...more };
  return { update_id: 1, message: message as unknown as NonNullable<Update['message']> };
}

export function inGroup(text: string, more: object = {}): Update {
  return said(text, { chat: group, ...more });
}

/** A bot that hears updates by `bot.handleUpdate`, and asks Telegram nothing. */
export function hearingBot(options: Omit<Parameters<typeof listenToTelegram>[1], 'commands' | 'log'>) {
  const bot = createTelegramBot({ token: '99:token', apiRoot: 'http://127.0.0.1:1' });
  bot.botInfo = { ...bare, ...me };
  const log = quietLog();
  const { foresee } = listenToTelegram(bot, { ...options, commands: () => undefined, log });
  return { log, foresee, take: (update: Update) => bot.handleUpdate(update) };
}

const bare = {
  is_bot: true,
  first_name: 'Bot',
  can_join_groups: true,
  can_read_all_group_messages: true,
  can_manage_bots: false,
  supports_inline_queries: false,
  supports_join_request_queries: false,
  can_connect_to_business: false,
  has_main_web_app: false,
  has_topics_enabled: false,
  allows_users_to_create_topics: false,
} as const;

/** What an update of any kind means. */
export function toEvent(update: Update, self: Me): ReturnType<typeof fromTelegramSaid> {
  const said = update.message ?? update.channel_post;
  const edited = update.edited_message ?? update.edited_channel_post;
  if (said !== undefined) return fromTelegramSaid(said, self);
  if (edited !== undefined) return toEdited(edited, self);
  if (update.callback_query !== undefined) return fromTelegramPress(update.callback_query, 0);
  return update.my_chat_member === undefined
    ? { ignored: 'unused' }
    : fromTelegramStanding(update.my_chat_member);
}

export function eventOf(update: Update, self: Me = me): ChannelEvent {
  const outcome = toEvent(update, self);
  assert.ok('event' in outcome, 'ignored' in outcome ? outcome.ignored : '');
  return outcome.event;
}

export function messageOf(update: Update, self: Me = me): Message {
  const event = eventOf(update, self);
  assert.ok(event.type === 'message' || event.type === 'edited');
  return event.message;
}

export function ignored(update: Update): string {
  const outcome = toEvent(update, me);
  return 'ignored' in outcome ? outcome.ignored : assert.fail(JSON.stringify(outcome.event));
}
