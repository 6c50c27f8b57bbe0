import type { InlineKeyboardMarkup } from 'grammy/types';
import { TelegramFault, type TelegramApi } from './telegram-api.ts';
import type { OutgoingPart, Receipt } from '../../core/channel.ts';
import { SendError } from '../../core/errors.ts';
import type { PrivateReply } from '../../core/privately.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';

/** How long after an act the platform lets a bot answer it privately. Later the person may be away (Bot API 10.2). */
const windowMs = 15_000;

type Words = Readonly<{
  chat_id: number;
  message_thread_id?: number;
  text: string;
  parse_mode?: 'HTML';
  link_preview_options: Readonly<{ is_disabled: boolean }>;
  reply_markup?: InlineKeyboardMarkup;
}>;

/** Messages in groups that one person alone sees. */
export type SendAlone = Readonly<{
  /**
   * Rejects with `refused` wherever the message could not be shown, or could be missed: the person did nothing for a
   * while, or the server does not know such messages.
   */
  send(part: OutgoingPart, words: Words): Promise<Receipt>;
  edit(receipt: Receipt, words: Words): Promise<void>;
  remove(chat: number, receipt: Receipt): Promise<void>;
}>;

/** The number of a Telegram id such as `telegram:42`. */
export function numberOf(person: string): number {
  return Number(person.slice(person.indexOf(':') + 1));
}

/** Whether the part is for one person in a chat that others read, too. */
export function isAlone({ onlyTo }: OutgoingPart, chat: string): boolean {
  return onlyTo !== undefined && String(numberOf(onlyTo)) !== chat;
}

export function createSendAlone({
  api,
  clock,
  log,
}: Readonly<{ api: TelegramApi; clock: Clock; log: Log }>): SendAlone {
  let known: boolean | undefined;

  /**
   * Whether the server knows ephemeral messages. An older one passes over the parameter in silence, and everybody would
   * read the message. It answers 404 to a method that came with them.
   */
  async function isKnown(chat_id: number, receiver_user_id: number): Promise<boolean> {
    known ??= await api.deleteEphemeralMessage({ chat_id, receiver_user_id, ephemeral_message_id: 0 }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof TelegramFault && error.kind === 'answered' && error.code !== 429)
          return error.code === 404 ? false : error.code < 500 ? true : undefined;
        return undefined;
      },
    );
    if (known === undefined)
      throw new SendError('retry', 'whether the server knows private messages is not known yet');
    return known;
  }

  async function attempt(words: Words, person: string, reply: PrivateReply | undefined): Promise<Receipt> {
    const sent = await api.sendMessage({
      ...words,
      ephemeral_message_parameters: {
        receiver_user_id: numberOf(person),
        callback_query_id: reply?.kind === 'press' ? reply.id : undefined,
      },
      reply_parameters: reply?.kind === 'command' ? { ephemeral_message_id: Number(reply.id) } : undefined,
    });
    const { ephemeral_message_id: id } = sent;
    if (id !== undefined) return { id: String(id), onlyTo: person };
    known = false;
    log.error({ chat: words.chat_id }, 'the server showed a private message to everybody: it is removed');
    await api.deleteMessage({ chat_id: words.chat_id, message_id: sent.message_id });
    throw refused('the server does not keep private messages private');
  }

  return {
    async send(part, words) {
      const { onlyTo = '', privately } = part;
      if (part.file !== undefined) throw refused('files are not shown to one person in a group');
      const at = privately?.reply?.at ?? privately?.at ?? 0;
      if (clock.now() - at > windowMs) throw refused('the person may be away by now');
      if (!(await isKnown(words.chat_id, numberOf(onlyTo))))
        throw refused('this Bot API server does not know private messages');
      const reply = privately?.reply;
      if (reply === undefined) return attempt(words, onlyTo, undefined);
      try {
        return await attempt(words, onlyTo, reply);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        // An administrator needs no reason, so one that the platform does not accept matters to others only.
        return attempt(words, onlyTo, undefined);
      }
    },
    async edit({ id, onlyTo = '' }, words) {
      const { message_thread_id: _, ...rest } = words;
      await api.editEphemeralMessageText({
        ...rest,
        receiver_user_id: numberOf(onlyTo),
        ephemeral_message_id: Number(id),
      });
    },
    async remove(chat_id, { id, onlyTo = '' }) {
      const which = { receiver_user_id: numberOf(onlyTo), ephemeral_message_id: Number(id) };
      await api.deleteEphemeralMessage({ chat_id, ...which });
    },
  };
}

/** Whether Telegram refused for a reason that is not the text's form. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof TelegramFault) || error.kind !== 'answered') return false;
  return error.code === 400 && error.movedTo === undefined && !/can't parse entities/.test(error.description);
}

function refused(why: string): SendError {
  return new SendError('refused', `a private message could not be sent: ${why}`);
}
