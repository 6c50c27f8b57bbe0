import { z } from 'zod';
import type { Channel } from '../../core/channel.ts';
import { FetchFileError } from '../../core/errors.ts';
import { fixed } from '../../core/texts/say.ts';
import { saveFile, tooLarge } from '../save-file.ts';
import type { CallSlack } from './call-slack.ts';
import { slackErrorCode } from './slack-error.ts';

const text = z.string().nullish();
const info = z.object({
  file: z.object({
    mode: text,
    is_external: z.boolean().nullish(),
    size: z.number().nullish(),
    url_private_download: text,
    url_private: text,
  }),
});
type Found = Readonly<{ url: string; size: number | undefined }>;

const gone = ['file_not_found', 'file_deleted', 'file_removed'];
const withheld = ['access_denied', 'file_not_visible', 'not_visible', 'team_access_not_granted'];
const page = /^\s*<(!doctype\s+html|html)/i;

/**
 * Fetches what a person sent (M12). Slack is asked for the file first: events may hold its id only, or be old. The token
 * goes to Slack's own hosts and along no redirect (S3).
 */
export function createFetchFile(
  call: CallSlack,
  { botToken, apiUrl }: Readonly<{ botToken: string; apiUrl?: string }>,
): Channel['fetchFile'] {
  async function find(id: string): Promise<Found> {
    const { file } = info.parse(await call('files.info', { file: id }));
    if (file.mode === 'tombstone') throw deleted();
    if (file.mode === 'external' || file.is_external)
      throw refused('a file lies outside of Slack', fixed`it lies outside of Slack`);
    const url = file.url_private_download || file.url_private;
    if (!url || !isOfSlack(url, apiUrl)) throw refused('files.info named no address of Slack', notGiven);
    return { url, size: file.size ?? undefined };
  }

  return async ({ ref }, to, signal) => {
    signal.throwIfAborted();
    try {
      const { url, size } = await find(ref);
      if (size !== undefined && size > to.maxBytes) throw tooLarge(to.maxBytes);
      signal.throwIfAborted();
      const headers = { authorization: `Bearer ${botToken}` };
      const response = await fetch(url, { headers, redirect: 'manual', signal });
      if (response.status !== 200 || response.body === null) {
        await response.body?.cancel();
        throw notServed(response.status);
      }
      const begin = { text: '' };
      const saved = await saveFile(withBegin(response.body, begin), to);
      // Without the scope Slack answers with a page to sign in on.
      const isPage = page.test(begin.text);
      if (saved === size || (size === undefined && !isPage)) return;
      throw isPage ? notPermitted() : passing(`${saved} of ${size} bytes of a file arrived`);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof FetchFileError) throw error;
      if (error instanceof Error && 'syscall' in error) throw error;
      throw toFetchError(error);
    }
  };
}

/** Test servers stand where `apiUrl` says. */
function isOfSlack(address: string, apiUrl: string | undefined): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, port, origin } = new URL(address);
  if (apiUrl !== undefined && origin === new URL(apiUrl).origin) return true;
  return protocol === 'https:' && port === '' && /(^|\.)slack(-gov)?\.com$/.test(hostname);
}

async function* withBegin(
  body: AsyncIterable<Uint8Array>,
  begin: { text: string },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    if (begin.text.length < 64) begin.text += Buffer.from(chunk.subarray(0, 64)).toString('latin1');
    yield chunk;
  }
}

function toFetchError(error: unknown): FetchFileError {
  const code = slackErrorCode(error) ?? '';
  if (code === 'missing_scope') return notPermitted();
  if (gone.includes(code)) return deleted();
  if (withheld.includes(code)) return refused(`files.info was answered with ${code}`, notGiven);
  return passing('a file could not be fetched', error);
}

const notGiven = fixed`Slack does not give it out`;

function notServed(status: number): FetchFileError {
  const redirect = status >= 300 && status < 400;
  const message = `a download was answered with ${status}${redirect ? ', a redirect: it is not followed' : ''}`;
  if (status >= 500 || status === 429) return passing(message);
  return status === 404 || status === 410 ? deleted() : refused(message, notGiven);
}

function notPermitted(): FetchFileError {
  return refused(
    'the Slack app lacks the scope files:read',
    fixed`the Slack app of this bot lacks the scope files:read: its operator can add it and install the app again`,
  );
}

function deleted(): FetchFileError {
  return refused('a file was deleted', fixed`Slack no longer has it`);
}

function refused(message: string, sentence: string): FetchFileError {
  return new FetchFileError(message, { sentence });
}

function passing(message: string, cause?: unknown): FetchFileError {
  return new FetchFileError(message, {
    sentence: fixed`it did not arrive whole from Slack`,
    passing: true,
    cause,
  });
}
