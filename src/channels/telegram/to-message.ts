import type { Chat, Message as TelegramMessage, User } from 'grammy/types';
import type { Conversation, SeenChatType } from '../../core/conversation.ts';
import type { Command, Message, Quote, Sender } from '../../core/message.ts';
import { parseCommand } from '../../core/parse-command.ts';
import { takeOwnMention, type Me } from './own-mention.ts';
import { toAttachments } from './to-attachments.ts';

/** Why something that Telegram sent is no message for the bot; for the log. */
export type Ignored = Readonly<{ ignored: string }>;

/** Turns what a person wrote in Telegram into a message (H3, A1), or names the reason why it is none. */
export function toMessage(from: TelegramMessage, me: Me): Readonly<{ message: Message }> | Ignored {
  const reason = reasonToIgnore(from, me);
  if (reason !== undefined) return { ignored: reason };
  const sender = senderOf(from);
  if (sender === undefined) return { ignored: 'it has no sender' };
  const written = from.text ?? from.caption ?? '';
  const attachments = toAttachments(from);
  if (written.trim() === '' && attachments.length === 0) return { ignored: 'it has neither text nor a file' };

  const own = takeOwnMention(written, from.entities ?? from.caption_entities ?? [], me);
  const reply = replyOf(from, me);
  const call = readCommand(own.text, from, me);
  const meant = call?.meant === true || own.mentioned || reply?.own === true;
  return {
    message: {
      id: `telegram:${from.chat.id}:${from.message_id}`,
      conversation: conversationOf(from),
      chatType: chatTypeOf(from.chat),
      external: false,
      sender,
      text: call?.text ?? own.text,
      addressed: call?.forOther !== true && (meant || from.chat.type === 'private'),
      ...(call?.command === undefined ? {} : { command: call.command }),
      attachments,
      ...(reply === undefined ? {} : { replyTo: reply }),
      ...(from.forward_origin === undefined ? {} : { forwarded: true }),
      platformId: String(from.message_id),
      sentAt: from.date * 1000,
    },
  };
}

/** A thread counts only in a forum topic: elsewhere the id is a reply thread that can't be sent to (TG5). */
export function conversationOf(
  message: Readonly<{ chat: Chat; is_topic_message?: boolean; message_thread_id?: number }>,
): Conversation {
  const { chat, is_topic_message: inTopic, message_thread_id: thread } = message;
  const room = { channel: 'telegram', chat: String(chat.id) };
  return inTopic === true && thread !== undefined ? { ...room, thread: String(thread) } : room;
}

export function chatTypeOf({ type }: Readonly<{ type: string }>): SeenChatType {
  if (type === 'private' || type === 'channel') return type;
  return type === 'group' || type === 'supergroup' ? 'group' : 'unknown';
}

export function personOf(user: User): Sender {
  const name = [user.first_name, user.last_name].filter(Boolean).join(' ');
  return { id: `telegram:${user.id}`, name, kind: user.is_bot ? 'bot' : 'person' };
}

function reasonToIgnore(from: TelegramMessage, me: Me): string | undefined {
  if (from.message_id === 0 || from.ephemeral_message_id !== undefined) return 'it is ephemeral';
  if (from.business_connection_id !== undefined) return 'it belongs to a business account';
  if (from.guest_query_id !== undefined) return 'it is a guest query from a chat the bot is not in';
  if (from.direct_messages_topic !== undefined) return 'it is a direct message to a channel';
  if (from.is_automatic_forward === true) return 'it is the copy of a post in the linked channel';
  if (from.sender_chat === undefined && from.from?.id === me.id) return 'the bot wrote it';
  return undefined;
}

/** Who speaks for a chat is judged by that chat's id (A9): the `from` beside it is a placeholder. */
function senderOf(from: TelegramMessage): Sender | undefined {
  const chat = from.sender_chat ?? (from.chat.type === 'channel' ? from.chat : undefined);
  if (chat === undefined) return from.from === undefined ? undefined : personOf(from.from);
  const name = 'title' in chat ? chat.title : undefined;
  return { id: `telegram:${chat.id}`, name: name ?? String(chat.id), kind: 'chat' };
}

/** In a topic, a message that answers nothing "replies" to the topic's creation, which may be the bot's. */
function replyOf(from: TelegramMessage, me: Me): Quote | undefined {
  const to = from.reply_to_message;
  if (to === undefined || to.forum_topic_created !== undefined) return undefined;
  const files = toAttachments(to).map(({ name }) => `[${name}]`);
  const text = from.quote?.text ?? to.text ?? to.caption ?? files.join(' ');
  const own = to.from?.id === me.id;
  const author = senderOf(to);
  return {
    name: author?.name ?? '',
    text,
    own,
    ...(own || author === undefined ? {} : { sender: author.id }),
  };
}

type Call = Readonly<{ text: string; command?: Command; meant?: boolean; forOther?: boolean }>;

/** Commands are read from the text: Telegram's entity for `/my-skill` covers `/my` only. What was forwarded calls nothing. */
function readCommand(text: string, from: TelegramMessage, me: Me): Call | undefined {
  const parsed = from.forward_origin === undefined ? parseCommand(text) : undefined;
  if (parsed === undefined) return undefined;
  const { bot, ...command } = parsed;
  if (bot !== undefined && bot.toLowerCase() !== me.username.toLowerCase()) return { text, forOther: true };
  const meant = bot !== undefined || (me.commands?.has(command.name) ?? true);
  return {
    text: bot === undefined ? text : text.replace(`@${bot}`, ''),
    command,
    ...(meant ? { meant } : {}),
  };
}
