import { openAsBlob } from 'node:fs';
import { z } from 'zod';
import { saveFile, tooLarge } from '../save-file.ts';
import { keyBlockId } from './find-key.ts';
import { toSlackText } from './from-markdown.ts';
import { textField, slackErrorCode, toSendError, type CallSlack } from './slack-error.ts';
import type { Channel, OutgoingFile } from '../../core/channel.ts';
import type { Conversation } from '../../core/conversation.ts';
import { SendError, FetchFileError } from '../../core/errors.ts';
import { fixed, type Fixed } from '../../core/texts/say.ts';

const text = z.string().nullish();

const info = z.object({
  file: z.object({
    mode: text,
    is_external: z.boolean().nullish(),
    size: z.number().nullish(),
    url_private_download: text,
    url_private: text,
    thumb_1024: text,
    thumb_720: text,
  }),
});

const gone = ['file_not_found', 'file_deleted', 'file_removed'];

const withheld = ['access_denied', 'file_not_visible', 'not_visible', 'team_access_not_granted'];

const page = /^\s*<(!doctype\s+html|html)/i;

const notGiven = fixed`Slack doesn’t let me download it`;

const hiddenByPlan = fixed`this workspace’s plan no longer shows it`;

type File = OutgoingFile;

/** Most bytes of a file that Slack accepts. */
export const largestSlackFile = 1_000_000_000;
const longestCaption = 3000;
const uploadMs = 600_000;

/** Whether a caption can be below a file. It must contain no link that Slack might fetch. */
export function slackCaptionFits(markdown: string): boolean {
  if (markdown.length > 4 * longestCaption) return false;
  const text = toSlackText(markdown);
  return text.length <= longestCaption && !/:\/\/|mailto:/.test(text);
}

/** Uploads a file, which nobody sees yet. Throws SendError, never `unknown`. */
export async function uploadFile(call: CallSlack, { name, size, path }: File): Promise<string> {
  try {
    const place = await call('files.getUploadURLExternal', { filename: name, length: size });
    const answer = await fetch(textField(place, 'upload_url'), {
      method: 'POST',
      body: await openAsBlob(path),
      redirect: 'error',
      signal: AbortSignal.timeout(uploadMs),
    });
    if (!answer.ok) throw refusedUpload(answer, size);
    return textField(place, 'file_id');
  } catch (error) {
    const failed = fileError(error);
    throw failed.outcome === 'unknown' ? new SendError('retry', failed.message, { cause: error }) : failed;
  }
}

/** Shares uploaded files as one message. Throws SendError. */
export async function shareFiles(
  call: CallSlack,
  { chat, thread }: Conversation,
  markdown: string,
  files: readonly Readonly<{ id: string; title: string }>[],
  key: string,
): Promise<void> {
  // Verbatim text has no mentions or links. Without text the file names are shown, as the block carries the key.
  const written = toSlackText(markdown).trim();
  const caption =
    written === ''
      ? { type: 'plain_text', text: files.map(({ title }) => title).join(', '), emoji: false }
      : { type: 'mrkdwn', text: written, verbatim: true };
  try {
    await call('files.completeUploadExternal', {
      files,
      channel_id: chat,
      thread_ts: thread,
      blocks: [{ type: 'section', block_id: keyBlockId(key), text: caption }],
    });
  } catch (error) {
    throw fileError(error);
  }
}

function refusedUpload({ status, headers }: Response, size: number): SendError {
  const message = `Slack answered ${status} to an upload`;
  if (status === 413) {
    return new SendError('refused', message, {
      sentence: (say) => say`Slack doesn’t accept files this large (${say.bytes(size)}).`,
    });
  }
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return new SendError('retry', message, seconds > 0 ? { retryAfterMs: seconds * 1_000 } : {});
}

function fileError(error: unknown): SendError {
  const failed = toSendError(error, 'a file');
  const sentence = refusals[slackErrorCode(error) ?? ''];
  return sentence === undefined
    ? failed
    : new SendError('refused', failed.message, { cause: error, sentence });
}

const refusals: Readonly<Record<string, Fixed>> = {
  file_upload_size_restricted: fixed`This Slack workspace doesn’t accept files this large.`,
  file_uploads_disabled: fixed`This Slack workspace doesn’t accept files.`,
  file_uploads_except_images_disabled: fixed`This Slack workspace accepts only pictures.`,
  file_type_not_allowed: fixed`This Slack workspace doesn’t accept files of this type.`,
  storage_limit_reached: fixed`The storage of this Slack workspace is full.`,
  posting_to_channel_denied: fixed`I’m not allowed to post files in this channel.`,
  missing_scope: fixed`My Slack app lacks the permission to send files (files:write).`,
};

type Found = Readonly<{ url: string; size: number | undefined }>;

/**
 * Makes a download. It first asks Slack about the file, because events may be old (M12). The token goes only to Slack's
 * hosts and follows no redirect (S3). `smaller` downloads at most 1,024 pixels
 * (https://docs.slack.dev/reference/objects/file-object).
 */
export function createSlackFetchFile(
  call: CallSlack,
  { botToken, apiUrl }: Readonly<{ botToken: string; apiUrl?: string }>,
  smaller = false,
): Channel['fetchFile'] {
  async function find(id: string): Promise<Found> {
    const { file } = info.parse(await call('files.info', { file: id }));
    if (file.mode === 'tombstone') throw deleted();
    if (file.mode === 'hidden_by_limit')
      throw refused('the plan of the workspace hides a file', hiddenByPlan);
    if (file.mode === 'external' || file.is_external)
      throw refused('a file lies outside of Slack', fixed`it is stored outside Slack`);
    const url = smaller ? file.thumb_1024 || file.thumb_720 : file.url_private_download || file.url_private;
    if (!url || !isOfSlack(url, apiUrl)) throw refused('files.info named no address of Slack', notGiven);
    return { url, size: smaller ? undefined : (file.size ?? undefined) };
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
      // Without the scope, Slack answers with a sign-in page.
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
  if (error instanceof z.ZodError) return refused('files.info described no file', notGiven);
  const code = slackErrorCode(error) ?? '';
  if (code === 'missing_scope') return notPermitted();
  if (gone.includes(code)) return deleted();
  if (withheld.includes(code)) return refused(`files.info was answered with ${code}`, notGiven);
  return passing('a file could not be fetched', error);
}

function notServed(status: number): FetchFileError {
  const redirect = status >= 300 && status < 400;
  const message = `a download was answered with ${status}${redirect ? ', a redirect: it is not followed' : ''}`;
  if (status >= 500 || status === 429) return passing(message);
  return status === 404 || status === 410 ? deleted() : refused(message, notGiven);
}

function notPermitted(): FetchFileError {
  return refused(
    'the Slack app lacks the scope files:read',
    fixed`my Slack app lacks the scope files:read: my operator can add it and install the app again`,
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
    sentence: fixed`the download from Slack was incomplete`,
    passing: true,
    cause,
  });
}
