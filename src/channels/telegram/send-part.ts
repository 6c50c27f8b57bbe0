import type { InlineKeyboardMarkup } from 'grammy/types';
import type { RateLimiter } from '../rate-limiter.ts';
import { toTelegramHtml, toTelegramText } from './from-markdown.ts';
import { sendAlbum, sendFile } from './files.ts';
import { saidBy, TelegramFault, type TelegramApi } from './telegram-api.ts';
import { filesOf, type Button, type OutgoingPart, type Part, type Receipt } from '../../core/channel.ts';
import type { Conversation } from '../../core/conversation.ts';
import { SendError } from '../../core/errors.ts';

/** All failures are SendErrors; nothing but bad formatting is retried. Sends and edits wait for the pace. */
export type SendPart = Readonly<{
  send(
    conversation: Conversation,
    part: OutgoingPart,
    key?: string,
    begin?: () => Promise<void>,
  ): Promise<Receipt>;
  edit(conversation: Conversation, receipt: Receipt, part: Part): Promise<void>;
  remove(conversation: Conversation, receipt: Receipt): Promise<void>;
  /** Telegram's own limits pause the chat. */
  failed(chat: string, error: unknown): SendError;
}>;

export function createSendPart(options: {
  api: TelegramApi;
  /** With time for large files. */
  uploads: TelegramApi;
  pace: RateLimiter;
}): SendPart {
  const { api, uploads, pace } = options;
  /** If Telegram can't parse the marks, the same words go without them (H2). */
  const deliver = async <Result>(
    { chat }: Conversation,
    part: Part,
    call: (text: Readonly<{ text: string; parse_mode?: 'HTML' }>) => Promise<Result>,
    begin?: () => Promise<void>,
  ): Promise<Result> => {
    const html = toTelegramHtml(part.markdown);
    await pace.wait(chat);
    await begin?.();
    try {
      return await call({ text: html, parse_mode: 'HTML' });
    } catch (error) {
      if (!saidBy(error, /can't parse entities/)) throw error;
      await pace.wait(chat);
      await begin?.();
      return await call({ text: toTelegramText(part.markdown) });
    }
  };

  const failed = (chat: string, error: unknown): SendError => {
    const retryAfterMs = error instanceof TelegramFault ? error.retryAfterMs : undefined;
    if (retryAfterMs !== undefined) pace.pause(chat, retryAfterMs);
    return toSendError(error);
  };

  return {
    async send(conversation, part, _key, begin) {
      const { chat } = conversation;
      const [file, ...more] = filesOf(part);
      const place = { ...addressOf(conversation), ...replyTo(part) };
      const fixed = { ...place, ...keyboard(part.buttons) };
      const below = (text: Parameters<typeof asCaption>[0]) => (part.markdown === '' ? {} : asCaption(text));
      let beginning = false;
      const beginHere = async (): Promise<void> => {
        beginning = true;
        await begin?.();
        beginning = false;
      };
      try {
        const sent = await deliver(
          conversation,
          part,
          (text) => {
            if (file === undefined) return api.sendMessage({ ...fixed, ...text, ...noPreview });
            if (more.length > 0) return sendAlbum(uploads, [file, ...more], { ...place, ...below(text) });
            return sendFile(uploads, file, { ...fixed, ...below(text) });
          },
          beginHere,
        );
        return { id: String(sent.message_id) };
      } catch (error) {
        // Telegram was not asked.
        throw beginning ? error : failed(chat, error);
      }
    },
    async edit(conversation, receipt, part) {
      const { chat } = conversation;
      try {
        await deliver(conversation, part, (text) =>
          api.editMessageText({
            chat_id: Number(chat),
            message_id: Number(receipt.id),
            ...text,
            ...noPreview,
            ...keyboard(part.buttons),
          }),
        );
      } catch (error) {
        if (saidBy(error, /message is not modified/)) return;
        throw failed(chat, error);
      }
    },
    async remove({ chat }, { id }) {
      try {
        await api.deleteMessage({ chat_id: Number(chat), message_id: Number(id) });
      } catch (error) {
        if (!saidBy(error, /message to delete not found/)) throw failed(chat, error);
      }
    },
    failed,
  };
}

function asCaption({ text, ...rest }: Readonly<{ text: string; parse_mode?: 'HTML' }>) {
  return { caption: text, ...rest };
}

/** What a model writes must not make Telegram fetch anything (H2). */
export const noPreview = { link_preview_options: { is_disabled: true } } as const;

export function addressOf({ chat, thread }: Conversation): { chat_id: number; message_thread_id?: number } {
  return thread === undefined
    ? { chat_id: Number(chat) }
    : { chat_id: Number(chat), message_thread_id: Number(thread) };
}

/** The message may be gone by now. */
export function replyTo({ replyTo: id }: Pick<Part, 'replyTo'>): object {
  if (id === undefined) return {};
  return { reply_parameters: { message_id: Number(id), allow_sending_without_reply: true } };
}

/** One a row, so that labels stay readable. */
function keyboard(buttons: readonly Button[] | undefined): { reply_markup?: InlineKeyboardMarkup } {
  if (buttons === undefined || buttons.length === 0) return {};
  const rows = buttons.map((button) => [
    'url' in button
      ? { text: button.label, url: button.url }
      : { text: button.label, callback_data: button.action },
  ]);
  return { reply_markup: { inline_keyboard: rows } };
}

/** What the outbox may do about a failure (Q6, H8). */
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
  // A wrong token can be fixed.
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
