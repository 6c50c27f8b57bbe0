import type {
  CallbackQuery,
  ChatMember,
  ChatMemberUpdated,
  Message as TelegramMessage,
  MessageGenerationStopped,
  MessageReactionUpdated,
  ReactionType,
} from 'grammy/types';
import type { ChannelEvent } from '../../core/channel.ts';
import { thumbAction, type Thumb, type ThumbsBy } from '../../core/rating.ts';
import { draftIdOf } from './draft.ts';
import { albumOf, joinOf } from './join-parts.ts';
import type { Me } from './message-parts.ts';
import {
  telegramChatType,
  telegramConversation,
  telegramPerson,
  fromTelegramMessage,
  type Ignored,
} from './to-message.ts';

const wantedUpdates = [
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'callback_query',
  'stopped_message_generation',
  'my_chat_member',
] as const;

/** The kinds of updates that the bot asks for. Reactions come only if asked for, in groups only to administrators. */
export function wantedKinds(
  ratings: ThumbsBy | 'off' = 'reactions',
): readonly ((typeof wantedUpdates)[number] | 'message_reaction')[] {
  return ratings === 'reactions' ? [...wantedUpdates, 'message_reaction'] : wantedUpdates;
}

/**
 * What a part of an update means, or why it is ignored. These functions throw only for shapes that Telegram never
 * sends.
 */
type Converted = Readonly<{ event: ChannelEvent }> | Ignored;

export function fromTelegramSaid(said: TelegramMessage, me: Me): Converted {
  const { migrate_to_chat_id: to, migrate_from_chat_id: from, chat } = said;
  if (to !== undefined) return moved(chat.id, to);
  if (from !== undefined) return moved(from, chat.id);
  const read = fromTelegramMessage(said, me);
  if ('ignored' in read) return read;
  const { message } = read;
  return { event: { type: 'message', message, join: joinOf(message, albumOf(said)) } };
}

export function toEdited(edited: TelegramMessage, me: Me): Converted {
  const read = fromTelegramMessage(edited, me);
  const at = edited.edit_date === undefined ? {} : { at: String(edited.edit_date) };
  return 'ignored' in read ? read : { event: { type: 'edited', message: read.message, ...at } };
}

/** A chat got a new id. Both chats report it (A6). */
function moved(from: number, to: number): Converted {
  return { event: { type: 'moved', from: `telegram:${from}`, to: `telegram:${to}` } };
}

/** The bot was added to a group or removed from it. */
export function fromTelegramStanding(change: ChatMemberUpdated): Converted {
  const { chat, from, old_chat_member: before, new_chat_member: now } = change;
  const isIn = isInGroup(now);
  if (chat.type === 'private' || isIn === isInGroup(before))
    return { ignored: `the bot is now ${now.status} in ${chat.id}` };
  const conversation = { channel: 'telegram', chat: String(chat.id) };
  if (!isIn) return { event: { type: 'left', conversation } };
  const { id, name } = telegramPerson(from);
  // An anonymous administrator has no id.
  return { event: { type: 'joined', conversation, by: from.is_bot ? undefined : { id, name } } };
}

export function isInGroup(member: ChatMember): boolean {
  if (member.status === 'restricted') return member.is_member;
  return member.status !== 'left' && member.status !== 'kicked';
}

/** `now` is in milliseconds since 1970, because a press has no time of its own. */
export function fromTelegramPress(query: CallbackQuery, now: number): Converted {
  const { message, data } = query;
  if (message === undefined) return { ignored: 'the button belongs to an inline message' };
  if (data === undefined) return { ignored: 'the button carries no action' };
  const sender = telegramPerson(query.from);
  const alone = 'ephemeral_message_id' in message ? message.ephemeral_message_id : undefined;
  return {
    event: {
      type: 'press',
      press: {
        id: query.id,
        conversation: telegramConversation(message),
        chatType: telegramChatType(message.chat),
        external: false,
        sender,
        action: data,
        receipt:
          alone === undefined ? { id: String(message.message_id) } : { id: String(alone), onlyTo: sender.id },
        ephemeral: alone === undefined ? undefined : true,
        privateReply: { kind: 'press', id: query.id, at: now },
        at: now,
      },
    },
  };
}

/** Somebody pressed the stop button of a draft, which is named by its id. Only private chats have drafts. */
export function fromTelegramStop(
  { chat, message_thread_id: thread, draft_id: draft }: MessageGenerationStopped,
  update: number,
): Converted {
  const conversation = { channel: 'telegram', chat: String(chat.id) };
  const { id, first_name, last_name } = chat;
  return {
    event: {
      type: 'stop',
      stop: {
        id: `telegram:${chat.id}:stop:${update}`,
        conversation: thread === undefined ? conversation : { ...conversation, thread: String(thread) },
        chatType: telegramChatType(chat),
        external: false,
        sender: telegramPerson({ id, is_bot: false, first_name, last_name }),
        isOf: (placeholder) => draftIdOf(placeholder) === draft,
      },
    },
  };
}

const thumbs: ReadonlyMap<string, Thumb> = new Map([
  ['👍', 'up'],
  ['👎', 'down'],
]);

function thumbsIn(reactions: readonly ReactionType[]): readonly Thumb[] {
  return reactions.flatMap((one) => (one.type === 'emoji' ? (thumbs.get(one.emoji) ?? []) : []));
}

/** Somebody changed their reactions to a message. Telegram does not say whose message it is. */
export function fromTelegramReaction(
  { chat, message_id: message, user, date, ...reactions }: MessageReactionUpdated,
  update: number,
): Converted {
  if (user === undefined) return { ignored: 'somebody reacted anonymously' };
  const [before, now] = [thumbsIn(reactions.old_reaction), thumbsIn(reactions.new_reaction)];
  const given = now.findLast((thumb) => !before.includes(thumb)) ?? now.at(-1);
  const thumb = given ?? before.at(-1);
  if (thumb === undefined) return { ignored: 'a reaction without a thumb' };
  return {
    event: {
      type: 'press',
      press: {
        id: `telegram:${chat.id}:reaction:${update}`,
        conversation: { channel: 'telegram', chat: String(chat.id) },
        chatType: telegramChatType(chat),
        external: false,
        sender: telegramPerson(user),
        action: thumbAction(thumb, given === undefined ? 'taken back' : undefined),
        receipt: { id: String(message) },
        at: date * 1000,
      },
    },
  };
}
