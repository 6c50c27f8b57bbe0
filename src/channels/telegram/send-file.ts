import { InputFile } from 'grammy';
import type { InlineKeyboardMarkup, ReplyParameters } from 'grammy/types';
import { byteSize } from '../../core/byte-size.ts';
import type { OutgoingPart } from '../../core/channel.ts';
import { SendError } from '../../core/errors.ts';
import type { TelegramApi } from './telegram-api.ts';
import { saidBy } from './telegram-fault.ts';

/** Bytes of a file that a bot may send. */
export const largestFile = 50 * 1024 * 1024;
/** Bytes of a picture that is shown as one; larger ones go as files. */
const largestPhoto = 10 * 1024 * 1024;
const photoTypes = ['image/jpeg', 'image/png', 'image/webp'];

type Rest = Readonly<{
  chat_id: number;
  message_thread_id?: number;
  caption?: string;
  parse_mode?: 'HTML';
  reply_parameters?: ReplyParameters;
  reply_markup?: InlineKeyboardMarkup;
}>;

/** Uploads a file: a picture as a photo, where Telegram takes it for one, anything else as a document (T12). */
export async function sendFile(
  api: TelegramApi,
  { name, mime, size, path }: NonNullable<OutgoingPart['file']>,
  rest: Rest,
): Promise<Readonly<{ message_id: number }>> {
  if (size > largestFile) {
    throw new SendError('refused', `a file of ${size} bytes is over Telegram's limit`, {
      sentence: `Telegram lets a bot send files of up to 50 MB, and this one has ${byteSize(size)}.`,
    });
  }
  if (photoTypes.includes(mime) && size <= largestPhoto) {
    try {
      return await api.sendPhoto({ ...rest, photo: new InputFile(path, name) });
    } catch (error) {
      // Too long, too narrow, damaged: as a document it arrives as it is.
      if (!saidBy(error, /PHOTO_|IMAGE_PROCESS_FAILED/)) throw error;
    }
  }
  return api.sendDocument({ ...rest, document: new InputFile(path, name) });
}
