import type { InlineKeyboardMarkup, ReplyParameters } from 'grammy/types';
import type { RateLimiter } from '../rate-limiter.ts';
import { toTelegramHtml, toTelegramText } from './from-markdown.ts';
import { sendAlbum, sendFile } from './files.ts';
import { createSendAlone, isAlone, type SendAlone } from './send-alone.ts';
import { saidBy, TelegramFault, type TelegramApi } from './telegram-api.ts';
import { filesOf, type OutgoingPart, type Part, type Receipt } from '../../core/channel.ts';
import type { Conversation } from '../../core/conversation.ts';
import { SendError } from '../../core/errors.ts';
import { thumbAction } from '../../core/rating.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';

/** Sends parts within the rate limit. All failures are SendErrors. Only bad formatting is tried again. */
export type SendPart = Readonly<{
  send(
    conversation: Conversation,
    part: OutgoingPart,
    key?: string,
    begin?: () => Promise<void>,
  ): Promise<Receipt>;
  edit(conversation: Conversation, receipt: Receipt, part: Part): Promise<void>;
  remove(conversation: Conversation, receipt: Receipt): Promise<void>;
  /** Reads a failure. If Telegram's own limit was reached, it pauses the chat. */
  failed(chat: string, error: unknown): SendError;
}>;

type SendDeps = Readonly<{
  api: TelegramApi;
  /** An API with a longer timeout, for large files. */
  uploads: TelegramApi;
  pace: RateLimiter;
  clock: Clock;
  log: Log;
}>;

export function createSendPart(deps: SendDeps): SendPart {
  const { api, pace } = deps;
  const alone = createSendAlone(deps);
  const failed: SendPart['failed'] = (chat, error) => {
    const retryAfterMs = error instanceof TelegramFault ? error.retryAfterMs : undefined;
    if (retryAfterMs !== undefined) pace.pause(chat, retryAfterMs);
    return toSendError(error);
  };
  /** Reads an error. Telegram answers 404 both to an unknown token and to a method that it does not have. */
  const thrown = async (chat: string, error: unknown): Promise<SendError> => {
    const known = failed(chat, error);
    if (!(error instanceof TelegramFault) || error.code !== 404) return known;
    const isKnown = await api.getMe().then(
      () => true,
      () => false,
    );
    return isKnown ? new SendError('refused', known.message, { cause: error }) : known;
  };
  return {
    async send(conversation, part, _key, begin) {
      let beginning = false;
      try {
        return await withMarks(part.markdown, async (text) => {
          await pace.wait(conversation.chat);
          beginning = true;
          await begin?.();
          beginning = false;
          if (isAlone(part, conversation.chat)) return alone.send(part, wordsOf(conversation, part, text));
          return { id: String((await post(deps, conversation, part, text)).message_id) };
        });
      } catch (error) {
        throw beginning ? error : await thrown(conversation.chat, error);
      }
    },
    async edit(conversation, receipt, part) {
      const { chat } = conversation;
      const message = { chat_id: Number(chat), message_id: Number(receipt.id), ...noPreview };
      try {
        await withMarks(part.markdown, async (text) => {
          await pace.wait(chat);
          if (receipt.onlyTo !== undefined) return alone.edit(receipt, wordsOf(conversation, part, text));
          return api.editMessageText({ ...message, ...text, reply_markup: keyboard(part) });
        });
      } catch (error) {
        if (!saidBy(error, /message is not modified/)) throw await thrown(chat, error);
      }
    },
    async remove({ chat }, receipt) {
      const { id, onlyTo } = receipt;
      try {
        if (onlyTo !== undefined) return await alone.remove(Number(chat), receipt);
        await api.deleteMessage({ chat_id: Number(chat), message_id: Number(id) });
      } catch (error) {
        if (!saidBy(error, /message to delete not found/)) throw await thrown(chat, error);
      }
    },
    failed,
  };
}

type MarkedText = Readonly<{ text: string; parse_mode?: 'HTML' }>;

/** Calls with HTML, and without marks if Telegram can't parse them (H2). */
export async function withMarks<Result>(
  markdown: string,
  call: (text: MarkedText) => Promise<Result>,
  html = toTelegramHtml(markdown),
): Promise<Result> {
  try {
    return await call({ text: html, parse_mode: 'HTML' });
  } catch (error) {
    if (!saidBy(error, /can't parse entities/)) throw error;
    return call({ text: toTelegramText(markdown) });
  }
}

function wordsOf(conversation: Conversation, part: Part, text: MarkedText): Parameters<SendAlone['send']>[1] {
  return { ...chatAddress(conversation), ...text, ...noPreview, reply_markup: keyboard(part) };
}

function post(
  { api, uploads }: SendDeps,
  conversation: Conversation,
  part: OutgoingPart,
  text: MarkedText,
): Promise<Readonly<{ message_id: number }>> {
  const [file, ...more] = filesOf(part);
  const place = { ...chatAddress(conversation), ...replyTo(part) };
  const reply_markup = keyboard(part);
  if (file === undefined) return api.sendMessage({ ...place, ...text, ...noPreview, reply_markup });
  const caption = part.markdown === '' ? {} : { caption: text.text, parse_mode: text.parse_mode };
  if (more.length > 0) return sendAlbum(uploads, [file, ...more], { ...place, ...caption });
  return sendFile(uploads, file, { ...place, ...caption, reply_markup });
}

/** Telegram must not fetch addresses that a model wrote (H2). */
export const noPreview = { link_preview_options: { is_disabled: true } } as const;

export function chatAddress({ chat, thread }: Conversation): { chat_id: number; message_thread_id?: number } {
  return { chat_id: Number(chat), message_thread_id: thread === undefined ? undefined : Number(thread) };
}

/** Replies to a message, also if that is gone by now. */
export function replyTo({ replyTo: id }: Pick<Part, 'replyTo'>): { reply_parameters?: ReplyParameters } {
  if (id === undefined) return {};
  return { reply_parameters: { message_id: Number(id), allow_sending_without_reply: true } };
}

export function keyboard({ buttons = [], thumbs }: Omit<Part, 'markdown'>): InlineKeyboardMarkup | undefined {
  const rows = buttons.map((button) => [
    'url' in button
      ? { text: button.label, url: button.url }
      : { text: button.label, callback_data: button.action },
  ]);
  const rating = [
    { text: '👍', callback_data: thumbAction('up') },
    { text: '👎', callback_data: thumbAction('down') },
  ];
  const all = thumbs === undefined ? rows : [...rows, rating];
  return all.length === 0 ? undefined : { inline_keyboard: all };
}

function toSendError(error: unknown): SendError {
  if (error instanceof SendError) return error;
  if (!(error instanceof TelegramFault)) {
    return new SendError('unknown', 'the send failed in an unforeseen way', { cause: error });
  }
  const { kind, code, message, movedTo, retryAfterMs } = error;
  const outcome = kind === 'answered' ? outcomeOf(error) : kind === 'not_sent' ? 'retry' : 'unknown';
  const advice = kind === 'answered' ? adviceOn(code, error.description) : '';
  return new SendError(outcome, `${message}${advice}`, {
    cause: error,
    retryAfterMs,
    movedTo,
  });
}

function outcomeOf({ code, movedTo }: TelegramFault): SendError['outcome'] {
  if (movedTo !== undefined || code === 429) return 'retry';
  // A wrong token can be fixed, so the send is retried.
  if (code === 401 || code === 404) return 'retry';
  return code >= 500 ? 'unknown' : 'refused';
}

function adviceOn(code: number, description: string): string {
  if (code === 401)
    return ' (the token is not valid any more: put a new one from @BotFather into the config)';
  if (/blocked by the user/.test(description)) return ' (the person blocked the bot)';
  if (/kicked|not a member/.test(description)) return ' (add the bot to that chat again)';
  if (/not enough rights|CHAT_WRITE_FORBIDDEN/.test(description)) return ' (let the bot write in that chat)';
  if (/thread not found/.test(description)) return ' (the topic was deleted)';
  if (/TOPIC_CLOSED/.test(description)) return ' (the topic is closed)';
  return '';
}
