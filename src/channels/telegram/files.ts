import { open } from 'node:fs/promises';
import { InputFile } from 'grammy';
import type { InlineKeyboardMarkup, ReplyParameters } from 'grammy/types';
import { saveFile } from '../save-file.ts';
import { saidBy, withoutToken, type TelegramApi } from './telegram-api.ts';
import type { Channel, OutgoingFile } from '../../core/channel.ts';
import { SendError, FetchFileError } from '../../core/errors.ts';
import { fixed } from '../../core/texts/say.ts';

/** Most bytes of a file that Telegram gives to a bot. */
const largestDownload = 20 * 1024 * 1024;

const usualRoot = 'https://api.telegram.org';

/** Most bytes of a file, a little under Telegram's limit. */
export const largestTelegramFile = 50_000_000;
/** A larger picture is sent as a document. */
const largestPhoto = 10 * 1024 * 1024;
const photoTypes = ['image/jpeg', 'image/png', 'image/webp'];

/** Matches errors after which a picture still arrives as a document. */
const notAsPhoto = /PHOTO_|PHOTOS_|send photos|IMAGE_PROCESS_FAILED/;

type Rest = Readonly<{
  chat_id: number;
  message_thread_id?: number;
  caption?: string;
  parse_mode?: 'HTML';
  reply_parameters?: ReplyParameters;
  reply_markup?: InlineKeyboardMarkup;
}>;

/** Sends a file: pictures as photos, Opus in Ogg as a voice note, anything else as a document (T12). */
export async function sendFile(
  api: TelegramApi,
  { name, mime, size, path }: OutgoingFile,
  rest: Rest,
): Promise<Readonly<{ message_id: number }>> {
  if (size > largestTelegramFile) {
    throw new SendError('refused', `a file of ${size} bytes is over Telegram's limit`, {
      sentence: (say) =>
        say`Telegram lets bots send files of up to ${say.bytes(largestTelegramFile)}. This one has ${say.bytes(size)}.`,
    });
  }
  if (isPhoto({ mime, size })) {
    try {
      return await api.sendPhoto({ ...rest, photo: new InputFile(path, name) });
    } catch (error) {
      if (!saidBy(error, notAsPhoto)) throw error;
    }
  }
  if (await isVoice(path)) {
    try {
      return await api.sendVoice({ ...rest, voice: new InputFile(path, name) });
    } catch (error) {
      if (!saidBy(error, /VOICE_MESSAGES_FORBIDDEN|CHAT_SEND_VOICES_FORBIDDEN|send voice/)) throw error;
    }
  }
  try {
    return await api.sendDocument({ ...rest, document: new InputFile(path, name) });
  } catch (error) {
    throw refusedUpload(error, size);
  }
}

/** Which files are shown together. Voice notes are sent alone. */
export function albumKind({ mime, size }: OutgoingFile): string | undefined {
  if (mime.startsWith('audio/')) return undefined;
  return isPhoto({ mime, size }) ? 'photo' : 'document';
}

/** Sends two to ten files as an album. The first one has the caption and is the receipt (T12). */
export async function sendAlbum(
  api: TelegramApi,
  files: readonly OutgoingFile[],
  { caption, parse_mode, ...rest }: Omit<Rest, 'reply_markup'>,
): Promise<Readonly<{ message_id: number }>> {
  const media = <Type extends 'photo' | 'document'>(type: Type) =>
    files.map(({ path, name }, index) => ({
      type,
      media: new InputFile(path, name),
      caption: index > 0 ? undefined : caption,
      parse_mode: index > 0 ? undefined : parse_mode,
    }));
  const send = async (type: 'photo' | 'document') => {
    const asType = type === 'photo' ? media('photo') : media('document');
    const [first] = await api.sendMediaGroup({ ...rest, media: asType });
    return first ?? Promise.reject(new Error('Telegram answered an album with no message'));
  };
  const size = files.reduce((sum, file) => sum + file.size, 0);
  try {
    return await send(files.every(isPhoto) ? 'photo' : 'document');
  } catch (error) {
    if (!saidBy(error, notAsPhoto)) throw refusedUpload(error, size);
  }
  try {
    return await send('document');
  } catch (error) {
    throw refusedUpload(error, size);
  }
}

function isPhoto({ mime, size }: Pick<OutgoingFile, 'mime' | 'size'>): boolean {
  return photoTypes.includes(mime) && size <= largestPhoto;
}

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

function refusedUpload(error: unknown, size: number): unknown {
  const message = error instanceof Error ? error.message : '';
  if (saidBy(error, /too (large|big)/i))
    return new SendError('refused', message, {
      cause: error,
      sentence: (say) => say`Telegram doesn’t accept files this large (${say.bytes(size)}).`,
    });
  if (
    saidBy(
      error,
      /CHAT_SEND_(DOCS|PHOTOS|MEDIA)_FORBIDDEN|not enough rights to send (documents|photos|media)/i,
    )
  )
    return new SendError('refused', message, {
      cause: error,
      sentence: fixed`I’m not allowed to send files in this chat.`,
    });
  return error;
}

/** Makes a download (M12). The address contains the token, so it follows no redirect and no error shows it (S3). */
export function createTelegramFetchFile({
  api,
  token,
  apiRoot = usualRoot,
}: Readonly<{ api: TelegramApi; token: string; apiRoot?: string }>): Channel['fetchFile'] {
  const root = apiRoot.replace(/\/+$/, '');

  async function locate(
    ref: string,
    signal: AbortSignal,
  ): Promise<Readonly<{ path: string; size?: number }>> {
    try {
      const { file_path: path, file_size: size } = await api.getFile({ file_id: ref }, signal as never);
      if (path === undefined)
        throw refused('Telegram named no path of a file', fixed`Telegram no longer has it`);
      return { path, size };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof FetchFileError) throw error;
      if (saidBy(error, /file is too big/i)) throw tooBig();
      if (saidBy(error, /./))
        throw refused(error instanceof Error ? error.message : '', fixed`Telegram no longer has it`);
      throw passing('getFile got no answer', error);
    }
  }

  return async ({ ref, size: told }, to, signal) => {
    signal.throwIfAborted();
    if (told !== undefined && told > largestDownload) throw tooBig();
    const { path, size } = await locate(ref, signal);
    try {
      const response = await fetch(`${root}/file/bot${token}/${inUrl(path)}`, { redirect: 'manual', signal });
      if (response.status !== 200 || response.body === null) {
        await response.body?.cancel();
        throw notGiven(response.status);
      }
      const saved = await saveFile(response.body, to);
      if (size !== undefined && saved !== size) throw passing(`${saved} of ${size} bytes of a file arrived`);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof FetchFileError) throw error;
      if (error instanceof Error && 'syscall' in error) throw error;
      throw passing('a download broke off', new Error(withoutToken(String(error), token)));
    }
  };
}

/** The path of a file in a URL. A local Bot API server names files of its own machine, which can't be read. */
function inUrl(path: string): string {
  const names = path.split('/');
  if (/^[a-z]:|\\/i.test(path) || names.some((name) => /^\.{0,2}$/.test(name))) {
    const sentence = fixed`my Bot API server runs in --local mode, whose files I can’t read: my operator can turn that off`;
    throw refused('getFile named a path that is not one of downloads', sentence);
  }
  return names.map(encodeURIComponent).join('/');
}

function notGiven(status: number): FetchFileError {
  const redirect = status >= 300 && status < 400;
  const message = `a download was answered with ${status}${redirect ? ', a redirect: it is not followed' : ''}`;
  return status >= 500 || status === 429
    ? passing(message)
    : refused(message, fixed`Telegram doesn’t let me download it`);
}

function tooBig(): FetchFileError {
  return refused(
    'a file is larger than Telegram gives to bots',
    fixed`larger than 20 MB, the most Telegram gives to a bot`,
  );
}

function refused(message: string, sentence: string): FetchFileError {
  return new FetchFileError(message, { sentence });
}

function passing(message: string, cause?: unknown): FetchFileError {
  return new FetchFileError(message, {
    sentence: fixed`the download from Telegram was incomplete`,
    passing: true,
    cause,
  });
}
