import { openAsBlob } from 'node:fs';
import type { OutgoingPart } from '../../core/channel.ts';
import type { Conversation } from '../../core/conversation.ts';
import { SendError } from '../../core/errors.ts';
import { fixed, type Fixed } from '../../core/texts/say.ts';
import { textOf, type CallSlack } from './call-slack.ts';
import { keyBlockId } from './find-key.ts';
import { toSlackText } from './from-markdown.ts';
import { slackErrorCode, toSendError } from './slack-error.ts';

type File = NonNullable<OutgoingPart['file']>;

/** Bytes of a file that Slack takes. */
export const largestFile = 1_000_000_000;
const longestCaption = 3000;
const uploadMs = 600_000;

/** Whether a text can stand with a file: 3,000 characters, and no link, which Slack might fetch. */
export function captionFits(markdown: string): boolean {
  // What marks add to a caption is little; a long text is not parsed for nothing.
  if (markdown.length > 4 * longestCaption) return false;
  const text = toSlackText(markdown);
  return text.length <= longestCaption && !/:\/\/|mailto:/.test(text);
}

/** Uploads the bytes; nobody sees them yet. Gives the file's id. Throws SendError, never `unknown`: it may be done again. */
export async function uploadFile(call: CallSlack, { name, size, path }: File): Promise<string> {
  try {
    const place = await call('files.getUploadURLExternal', { filename: name, length: size });
    const answer = await fetch(textOf(place, 'upload_url'), {
      method: 'POST',
      body: await openAsBlob(path),
      redirect: 'error',
      signal: AbortSignal.timeout(uploadMs),
    });
    if (!answer.ok) throw refusedUpload(answer, size);
    return textOf(place, 'file_id');
  } catch (error) {
    const failed = fileError(error);
    throw failed.outcome === 'unknown' ? new SendError('retry', failed.message, { cause: error }) : failed;
  }
}

/** Shows an uploaded file in the conversation, marked with the outbox row's key. Throws SendError. */
export async function shareFile(
  call: CallSlack,
  { chat, thread }: Conversation,
  { markdown, file: { name } }: Readonly<{ markdown: string; file: File }>,
  id: string,
  key: string,
): Promise<void> {
  // Verbatim: Slack makes no mention or link of it. Without a caption the name carries the mark.
  const written = toSlackText(markdown).trim();
  const caption =
    written === ''
      ? { type: 'plain_text', text: name, emoji: false }
      : { type: 'mrkdwn', text: written, verbatim: true };
  try {
    await call('files.completeUploadExternal', {
      files: [{ id, title: name }],
      channel_id: chat,
      ...(thread === undefined ? {} : { thread_ts: thread }),
      blocks: [{ type: 'section', block_id: keyBlockId(key), text: caption }],
    });
  } catch (error) {
    throw fileError(error);
  }
}

/** Slack's place for bytes answers with a status only. An address may have expired: the next try gets a new one. */
function refusedUpload({ status, headers }: Response, size: number): SendError {
  const message = `Slack answered ${status} to an upload`;
  if (status === 413) {
    return new SendError('refused', message, {
      sentence: (say) => say`Slack takes no file of that size (${say.bytes(size)}).`,
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

/** What the person is told whom a file was meant for. Their answer does not wait for any of these to change. */
const refusals: Readonly<Record<string, Fixed>> = {
  file_upload_size_restricted: fixed`This Slack workspace takes no file of that size.`,
  file_uploads_disabled: fixed`This Slack workspace takes no files.`,
  file_uploads_except_images_disabled: fixed`This Slack workspace takes no files but pictures.`,
  file_type_not_allowed: fixed`This Slack workspace takes no files of that type.`,
  storage_limit_reached: fixed`The storage of this Slack workspace is full.`,
  posting_to_channel_denied: fixed`I may not post files in this channel.`,
  missing_scope: fixed`My Slack app lacks the permission to send files (files:write).`,
};
