import type { Channel } from '../../core/channel.ts';
import { FetchFileError } from '../../core/errors.ts';
import { fixed } from '../../core/texts/say.ts';
import { saveFile } from '../save-file.ts';
import { withoutToken, type TelegramApi } from './telegram-api.ts';
import { saidBy } from './telegram-fault.ts';

/** Bytes of a file that Telegram gives to a bot. */
const largestDownload = 20 * 1024 * 1024;
const usualRoot = 'https://api.telegram.org';

/**
 * Fetches what a person sent (M12): `getFile`, then the bytes from the same root. The address holds the token, so no
 * redirect is followed and no error carries it (S3).
 */
export function createFetchFile({
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
      // grammY declares a signal type of its own.
      const { file_path: path, file_size: size } = await api.getFile({ file_id: ref }, signal as never);
      if (path === undefined)
        throw refused('Telegram named no path of a file', fixed`Telegram no longer has it`);
      return { path, ...(size === undefined ? {} : { size }) };
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

/** A Bot API server in `--local` mode names a file of its own machine: nothing that comes over the wire opens a file here. */
function inUrl(path: string): string {
  const names = path.split('/');
  if (/^[a-z]:|\\/i.test(path) || names.some((name) => /^\.{0,2}$/.test(name))) {
    const sentence = fixed`the Bot API server of this bot runs in --local mode, whose files the bot does not read: its operator can switch that off`;
    throw refused('getFile named a path that is not one of downloads', sentence);
  }
  return names.map(encodeURIComponent).join('/');
}

function notGiven(status: number): FetchFileError {
  const redirect = status >= 300 && status < 400;
  const message = `a download was answered with ${status}${redirect ? ', a redirect: it is not followed' : ''}`;
  return status >= 500 || status === 429
    ? passing(message)
    : refused(message, fixed`Telegram does not give it out`);
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
    sentence: fixed`it did not arrive whole from Telegram`,
    passing: true,
    cause,
  });
}
