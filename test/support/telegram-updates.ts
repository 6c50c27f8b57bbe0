import assert from 'node:assert/strict';
import type { Update } from 'grammy/types';
import type { ChannelEvent } from '../../src/core/channel.ts';
import type { Message } from '../../src/core/message.ts';
import { toEvent } from '../../src/channels/telegram/to-event.ts';
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

export function eventOf(update: Update, self: Parameters<typeof toEvent>[1] = me): ChannelEvent {
  const outcome = toEvent(update, self);
  assert.ok('event' in outcome, 'ignored' in outcome ? outcome.ignored : '');
  return outcome.event;
}

export function messageOf(update: Update, self: Parameters<typeof toEvent>[1] = me): Message {
  const event = eventOf(update, self);
  assert.ok(event.type === 'message' || event.type === 'edited');
  return event.message;
}

export function ignored(update: Update): string {
  const outcome = toEvent(update, me);
  return 'ignored' in outcome ? outcome.ignored : assert.fail(JSON.stringify(outcome.event));
}
