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
      // Photos may be forbidden where files are not. Too long, too narrow, damaged: as a document it arrives as it is.
      if (!saidBy(error, /PHOTO_|PHOTOS_|send photos|IMAGE_PROCESS_FAILED/)) throw error;
    }
  }
  try {
    return await api.sendDocument({ ...rest, document: new InputFile(path, name) });
  } catch (error) {
    throw refusedUpload(error, size);
  }
}

/** What Telegram, or a proxy before it, has against a file, in words for the person. */
function refusedUpload(error: unknown, size: number): unknown {
  const message = error instanceof Error ? error.message : '';
  if (saidBy(error, /too (large|big)/i))
    return new SendError('refused', message, {
      cause: error,
      sentence: `Telegram takes no file of that size (${byteSize(size)}).`,
    });
  if (
    saidBy(
      error,
      /CHAT_SEND_(DOCS|PHOTOS|MEDIA)_FORBIDDEN|not enough rights to send (documents|photos|media)/i,
    )
  )
    return new SendError('refused', message, {
      cause: error,
      sentence: 'This chat lets the bot send no files.',
    });
  return error;
}
