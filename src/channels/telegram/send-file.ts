import { open } from 'node:fs/promises';
import { InputFile } from 'grammy';
import type { InlineKeyboardMarkup, ReplyParameters } from 'grammy/types';
import type { OutgoingPart } from '../../core/channel.ts';
import { SendError } from '../../core/errors.ts';
import { fixed } from '../../core/texts/say.ts';
import type { TelegramApi } from './telegram-api.ts';
import { saidBy } from './telegram-fault.ts';

/** Bytes of a file that a bot may send: a little under what Telegram takes, and the number that people are told. */
export const largestFile = 50_000_000;
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

/** Uploads a file: a picture as a photo, Opus in Ogg as a voice note, where Telegram takes it for one; anything else as a document (T12). */
export async function sendFile(
  api: TelegramApi,
  { name, mime, size, path }: NonNullable<OutgoingPart['file']>,
  rest: Rest,
): Promise<Readonly<{ message_id: number }>> {
  if (size > largestFile) {
    throw new SendError('refused', `a file of ${size} bytes is over Telegram's limit`, {
      sentence: (say) =>
        say`Telegram lets a bot send files of up to ${say.bytes(largestFile)}, and this one has ${say.bytes(size)}.`,
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
  if (await isVoice(path)) {
    try {
      return await api.sendVoice({ ...rest, voice: new InputFile(path, name) });
    } catch (error) {
      // A person may take no voice notes, a group may forbid them: a file it can still be.
      if (!saidBy(error, /VOICE_MESSAGES_FORBIDDEN|CHAT_SEND_VOICES_FORBIDDEN|send voice/)) throw error;
    }
  }
  try {
    return await api.sendDocument({ ...rest, document: new InputFile(path, name) });
  } catch (error) {
    throw refusedUpload(error, size);
  }
}

/** Opus in Ogg, by its first bytes: nothing else is played as a voice note. */
async function isVoice(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(36), 0, 36, 0);
    const start = buffer.subarray(0, bytesRead).toString('latin1');
    return start.startsWith('OggS') && start.endsWith('OpusHead');
  } finally {
    await file.close();
  }
}

/** What Telegram, or a proxy before it, has against a file, in words for the person. */
function refusedUpload(error: unknown, size: number): unknown {
  const message = error instanceof Error ? error.message : '';
  if (saidBy(error, /too (large|big)/i))
    return new SendError('refused', message, {
      cause: error,
      sentence: (say) => say`Telegram takes no file of that size (${say.bytes(size)}).`,
    });
  if (
    saidBy(
      error,
      /CHAT_SEND_(DOCS|PHOTOS|MEDIA)_FORBIDDEN|not enough rights to send (documents|photos|media)/i,
    )
  )
    return new SendError('refused', message, {
      cause: error,
      sentence: fixed`This chat lets me send no files.`,
    });
  return error;
}
