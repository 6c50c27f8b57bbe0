import type { Chat, ExternalReplyInfo, Message as TelegramMessage, PhotoSize, User } from 'grammy/types';
import type { Conversation, SeenChatType } from '../../core/conversation.ts';
import {
  parseAddressed,
  parseCommand,
  type Attachment,
  type MessageCommand,
  type Message,
  type Quote,
  type Sender,
} from '../../core/message.ts';
import { readMessageText, authorOf, relayedBy, thingOf, type Me, type MessageText } from './message-parts.ts';

export type Ignored = Readonly<{ ignored: string }>;

/** Reads a message with its chat type (H3, A1). */
export function fromTelegramMessage(from: TelegramMessage, me: Me): Readonly<{ message: Message }> | Ignored {
  const reason = reasonToIgnore(from, me);
  if (reason !== undefined) return { ignored: reason };
  const sender = senderOf(from);
  if (sender === undefined) return { ignored: 'it has no sender' };
  const read = readMessageText(
    from.text ?? from.caption ?? '',
    from.entities ?? from.caption_entities ?? [],
    me,
  );
  const attachments = toAttachments(from);
  const shared = sharedOf(from, read.text, sender, me);
  if (read.text === '' && !read.mentioned && attachments.length === 0 && shared.length === 0)
    return { ignored: 'it has neither text nor a file' };

  const reply = replyOf(from, me);
  const call = readCommand(read, from, me);
  const isPassedOn = from.forward_origin !== undefined;
  // The person who forwards a message does not mean the people whom it mentions (M11).
  const meant = call?.meant === true || (read.mentioned && !isPassedOn) || reply?.own === true;
  const alone = from.ephemeral_message_id;
  const own = isPassedOn ? '' : (call?.text ?? read.text);
  return {
    message: {
      // Ephemeral ids are used again once such a message is gone.
      id: `telegram:${from.chat.id}:${alone === undefined ? from.message_id : `e${alone}:${from.date}`}`,
      conversation: telegramConversation(from),
      chatType: telegramChatType(from.chat),
      external: false,
      sender,
      text: own,
      addressed: call?.forOther !== true && (meant || from.chat.type === 'private' || alone !== undefined),
      command: call?.command,
      attachments,
      replyTo: reply,
      shared: shared.length === 0 ? undefined : shared,
      hiddenLinks: own === '' || read.hiddenLinks.length === 0 ? undefined : read.hiddenLinks,
      ephemeral: alone === undefined ? undefined : true,
      privateReply:
        alone === undefined ? undefined : { kind: 'command', id: String(alone), at: from.date * 1000 },
      platformId: alone === undefined ? String(from.message_id) : undefined,
      sentAt: from.date * 1000,
    },
  };
}

/** The conversation of a message. Only forum topics are threads (TG5). */
export function telegramConversation(
  message: Readonly<{ chat: Chat; is_topic_message?: boolean; message_thread_id?: number }>,
): Conversation {
  const { chat, is_topic_message: inTopic, message_thread_id: thread } = message;
  const room = { channel: 'telegram', chat: String(chat.id) };
  return inTopic === true && thread !== undefined ? { ...room, thread: String(thread) } : room;
}

export function telegramChatType({ type }: Readonly<{ type: string }>): SeenChatType {
  if (type === 'private' || type === 'channel') return type;
  return type === 'group' || type === 'supergroup' ? 'group' : 'unknown';
}

export function telegramPerson(user: User): Sender {
  const name = [user.first_name, user.last_name].filter(Boolean).join(' ');
  const { language_code: language } = user;
  return {
    id: `telegram:${user.id}`,
    name,
    kind: user.is_bot ? 'bot' : 'person',
    language,
  };
}

function reasonToIgnore(from: TelegramMessage, me: Me): string | undefined {
  if (from.message_id === 0 && from.ephemeral_message_id === undefined) return 'it is not sent yet';
  if (from.business_connection_id !== undefined) return 'it belongs to a business account';
  if (from.guest_query_id !== undefined) return 'it is a guest query from a chat the bot is not in';
  if (from.direct_messages_topic !== undefined) return 'it is a direct message to a channel';
  if (from.is_automatic_forward === true) return 'it is the copy of a post in the linked channel';
  if (from.sender_chat === undefined && from.from?.id === me.id) return 'the bot wrote it';
  return undefined;
}

/** Who wrote a message. A chat that speaks is judged by its id (A9). */
function senderOf(from: TelegramMessage): Sender | undefined {
  const chat = from.sender_chat ?? (from.chat.type === 'channel' ? from.chat : undefined);
  if (chat === undefined) return from.from === undefined ? undefined : telegramPerson(from.from);
  const name = 'title' in chat ? chat.title : undefined;
  return { id: `telegram:${chat.id}`, name: name ?? String(chat.id), kind: 'chat' };
}

/** The message that was replied to. In a topic every message "replies" to its creation, which does not count. */
function replyOf(from: TelegramMessage, me: Me): Quote | undefined {
  const { reply_to_message: to, external_reply: elsewhere, quote } = from;
  if (to !== undefined && to.forum_topic_created === undefined) {
    const own = to.from?.id === me.id;
    const author = senderOf(to);
    const text = to.text ?? to.caption ?? '';
    return {
      name: author?.name ?? '',
      own,
      ...relayedBy(to.forward_origin, me),
      sender: own ? undefined : author?.id,
      ...saidIn(
        to,
        quotedText(quote, me) ?? readMessageText(text, to.entities ?? to.caption_entities ?? [], me).text,
      ),
    };
  }
  if (elsewhere === undefined) return undefined;
  const { origin } = elsewhere;
  return {
    ...authorOf(origin, me),
    ...relayedBy(origin, me),
    ...saidIn(elsewhere, quotedText(quote, me) ?? ''),
  };
}

function quotedText(quote: TelegramMessage['quote'], me: Me): string | undefined {
  return quote === undefined ? undefined : readMessageText(quote.text, quote.entities ?? [], me).text;
}

function saidIn(
  content: Partial<TelegramMessage> | ExternalReplyInfo,
  text: string,
): Pick<Quote, 'text' | 'note' | 'attachments'> {
  const thing = thingOf(content);
  const attachments = toAttachments(content);
  const carried = [...attachments.map(({ name }) => `[${name}]`), ...(thing ? [thing.text] : [])];
  return {
    attachments: attachments.length === 0 ? undefined : attachments,
    text: [...carried, text].filter((each) => each !== '').join('\n'),
    note: thing?.note,
  };
}

/** Words that are not the sender's own (M11). */
function sharedOf(from: TelegramMessage, text: string, sender: Sender, me: Me): readonly Quote[] {
  const { forward_origin: origin } = from;
  const thing = thingOf(from);
  if (origin !== undefined) {
    const { attachments: _, ...said } = saidIn(from, text);
    const author = { ...authorOf(origin, me), ...relayedBy(origin, me) };
    return [{ ...author, ...said, note: ['forwarded', thing?.note].filter(Boolean).join(' ') }];
  }
  return thing === undefined ? [] : [{ name: sender.name, own: false, sender: sender.id, ...thing }];
}

type Call = Readonly<{ text: string; command?: MessageCommand; meant?: boolean; forOther?: boolean }>;

/** Reads a command without marks, as it was typed. Telegram's entity for `/my-skill` is `/my`, so the text decides. */
function readCommand(
  { text: marked, bare: text, mentioned }: MessageText,
  from: TelegramMessage,
  me: Me,
): Call | undefined {
  if (from.forward_origin !== undefined) return undefined;
  const parsed = parseCommand(text);
  if (parsed === undefined) {
    const command = mentioned ? parseAddressed(text) : undefined;
    return command === undefined ? undefined : { text: marked, command, meant: true };
  }
  const { bot, ...command } = parsed;
  if (bot !== undefined && bot.toLowerCase() !== me.username.toLowerCase()) return { text, forOther: true };
  const meant = bot !== undefined || (me.commands?.has(command.name) ?? true);
  return {
    text: bot === undefined ? text : text.replace(`@${bot}`, ''),
    command,
    meant: meant || undefined,
  };
}

type File = Readonly<{ file_id?: string; mime_type?: string; file_size?: number }>;

export function toAttachments(message: Partial<TelegramMessage>): readonly Attachment[] {
  const found = fileOf(message);
  return found === undefined ? [] : [found];
}

function fileOf(message: Partial<TelegramMessage>): Attachment | undefined {
  const { photo, animation, document, audio, voice, video, video_note: round, sticker } = message;
  if (photo !== undefined) return describe('photo', 'photo.jpg', largestFor(photo), 'image/jpeg');
  // Its document is the same file.
  if (animation !== undefined) return describe('video', animation.file_name ?? 'animation', animation);
  if (document !== undefined) return describe('document', document.file_name ?? 'document', document);
  if (audio !== undefined) return describe('audio', audio.file_name ?? audio.title ?? 'audio', audio);
  if (voice !== undefined) return describe('audio', 'voice message', voice);
  if (video !== undefined) return describe('video', video.file_name ?? 'video', video);
  if (round !== undefined) return describe('video', 'video message', round);
  if (sticker !== undefined) return describe('other', `sticker ${sticker.emoji ?? ''}`.trim(), sticker);
  return undefined;
}

/** Larger pictures are scaled down or refused by models. */
const largestPicture = { side: 2000, bytes: 3_900_000 };

/** The largest size that fits, or the smallest one. The smallest comes first. */
function largestFor(sizes: readonly PhotoSize[]): PhotoSize | undefined {
  const fitting = sizes.filter(
    ({ width, height, file_size: bytes = 0 }) =>
      Math.max(width, height) <= largestPicture.side && bytes <= largestPicture.bytes,
  );
  return fitting.at(-1) ?? sizes[0];
}

function describe(
  kind: Attachment['kind'],
  name: string,
  file: File | undefined,
  usualMime?: string,
): Attachment {
  const mime = file?.mime_type ?? usualMime;
  return {
    kind,
    name,
    mime,
    size: file?.file_size,
    ref: file?.file_id,
  };
}
