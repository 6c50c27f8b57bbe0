import { filesOf, type OutgoingPart, type Part, type Receipt } from '../../core/channel.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { Plan } from '../../core/plan.ts';
import { SendError } from '../../core/errors.ts';
import type { Log } from '../../lib/log.ts';
import { createMarkdownTask } from '../../lib/markdown/long-markdown.ts';
import type { RateLimiter } from '../rate-limiter.ts';
import { toButtonBlocks, toThumbBlocks, type SlackBlock } from './buttons.ts';
import { textField, formatErrors, slackErrorCode, toSendError, type CallSlack } from './slack-error.ts';
import { whenClosed } from './create-stream.ts';
import { findKey, keyMetadata } from './find-key.ts';
import {
  toPlainMessage,
  toSlackMessage,
  toTabledMessage,
  type Tabled,
  type TabledMessage,
} from './from-markdown.ts';
import { shareFiles, uploadFile } from './files.ts';
import { toPlanBlock, toPlanText } from './plan-blocks.ts';
import { userOf, type SlackApi, type SlackPaces } from './slack-options.ts';

export const updateRateLimit = 'chat.update';

export type SlackSender = Readonly<{
  /** Sends a part, and calls `begin` after waiting for the rate limit. Throws SendError. */
  send(
    conversation: Conversation,
    part: OutgoingPart,
    key: string,
    begin?: () => Promise<void>,
  ): Promise<Receipt>;
  /** Finds a sent part. Throws SendError if that can't be told now. */
  find(conversation: Conversation, key: string): Promise<Receipt | undefined>;
  /** Edits a message. Its failure is never `unknown`, because an edit may be repeated. */
  edit(conversation: Conversation, receipt: Receipt, part: Part): Promise<void>;
  remove(conversation: Conversation, receipt: Receipt): Promise<void>;
}>;

type Body = Readonly<{ text: string; blocks?: readonly SlackBlock[] }>;

/** Makes the sender. `posts` is limited by channel, `edits` by workspace (H8). */
export function createSender({ call, me }: SlackApi, { posts, edits }: SlackPaces, log: Log): SlackSender {
  const write = createMarkdownTask<Tabled, TabledMessage>(new URL('./message-worker', import.meta.url), {
    read: toTabledMessage,
    plain: toPlainMessage,
    log,
  });
  const tables = me.agentView === true;
  return {
    async send(conversation, part, key, begin) {
      const [{ chat }, { markdown }] = [conversation, part];
      if (aloneIn(chat, part) !== undefined && part.file !== undefined)
        throw new SendError('refused', 'Slack shows files to everybody in a channel');
      // Sharing the files sends the message.
      const uploaded: { id: string; title: string }[] = [];
      for (const file of filesOf(part)) uploaded.push({ id: await uploadFile(call, file), title: file.name });
      const [first] = uploaded;
      const message = await write({ markdown, tables });
      await posts.wait(chat);
      await begin?.();
      if (first !== undefined) {
        try {
          await shareFiles(call, conversation, markdown, uploaded, key);
          return { id: first.id };
        } catch (error) {
          throw paused(posts, chat, toSendError(error, 'a file'));
        }
      }
      try {
        return await postPart(call, conversation, { part, message, key });
      } catch (error) {
        throw paused(posts, chat, toSendError(error, 'a message'));
      }
    },

    async find(conversation, key) {
      try {
        const ts = await findKey(call, conversation, key, me);
        return ts === undefined ? undefined : { id: ts };
      } catch (error) {
        throw asRetry(toSendError(error, 'a look at the history'));
      }
    },

    async edit({ chat }, receipt, part) {
      refuseAlone(receipt);
      const message = await write({ markdown: part.markdown, tables });
      await edits.wait(updateRateLimit);
      const fixed = { channel: chat, ts: receipt.id };
      try {
        const update = ({ text, blocks }: Body) =>
          whenClosed(call, fixed, () => call('chat.update', { ...fixed, text, blocks }));
        await orPlain(update, toBody(part, message), () => toPlainBody(part, message, longestText));
      } catch (error) {
        throw paused(edits, updateRateLimit, asRetry(toSendError(error, 'a change of a message')));
      }
    },

    remove: async ({ chat }, receipt) => removeMessage(call, chat, receipt),
  };
}

/** Slack changes and removes no message that one person alone sees. */
function refuseAlone({ onlyTo }: Receipt): void {
  if (onlyTo !== undefined)
    throw new SendError('refused', 'Slack does not change what one person alone sees');
}

async function removeMessage(call: CallSlack, channel: string, receipt: Receipt): Promise<void> {
  refuseAlone(receipt);
  const place = { channel, ts: receipt.id };
  try {
    await whenClosed(call, place, () => call('chat.delete', place));
  } catch (error) {
    if (slackErrorCode(error) === 'message_not_found') return;
    throw asRetry(toSendError(error, 'the deletion of a message'));
  }
}

/** The only person who sees the part, by Slack's id; undefined if the chat is theirs alone, or if everybody sees it. */
function aloneIn(chat: string, { onlyTo }: Part): string | undefined {
  return onlyTo === undefined || userOf(onlyTo) === chat || chat.startsWith('D') ? undefined : userOf(onlyTo);
}

/** Posts a part as a message that everybody sees, or only the person `onlyTo`. */
async function postPart(
  call: CallSlack,
  { chat, thread }: Conversation,
  { part, message, key }: Readonly<{ part: OutgoingPart; message: TabledMessage; key: string }>,
): Promise<Receipt> {
  const { onlyTo, replyTo } = part;
  const alone = aloneIn(chat, part);
  // Nothing is seen in a thread that has no messages yet.
  const seenThread = thread === replyTo ? undefined : thread;
  const place = { channel: chat, thread_ts: thread };
  const post = (body: Body) =>
    alone === undefined
      ? call('chat.postMessage', {
          ...place,
          metadata: keyMetadata(key),
          // Slack must not fetch addresses that a model wrote (H2).
          unfurl_links: false,
          unfurl_media: false,
          ...body,
        })
      : call('chat.postEphemeral', { ...place, thread_ts: seenThread, user: alone, ...body });
  const answer = await orPlain(post, toBody(part, message), () => toPlainBody(part, message));
  return alone === undefined
    ? { id: textField(answer, 'ts') }
    : { id: textField(answer, 'message_ts'), onlyTo };
}

/** Sends a body, and if Slack takes no such blocks, its plain form. */
export async function orPlain<Answer>(
  send: (body: Body) => Promise<Answer>,
  body: Body,
  plain: () => Body,
): Promise<Answer> {
  try {
    return await send(body);
  } catch (error) {
    const code = slackErrorCode(error);
    if (code === undefined || !formatErrors.includes(code)) throw error;
    return send(plain());
  }
}

export function toBody(part: Part, message: TabledMessage = toSlackMessage(part.markdown)): Body {
  const { text, blocks } = message;
  if (part.plan !== undefined) return toPlanBody(part.plan, message);
  const shown = blocks.length === 0 && part.thumbs !== undefined ? plainSections(part) : blocks;
  if (shown.length === 0) return toPlainBody(part, message, longestText);
  const below = [...toButtonBlocks(part.buttons ?? []), ...toThumbBlocks(part.thumbs)];
  return { text: cut(text, longestText), blocks: [...shown, ...below] };
}

/** The steps of the work (U18), with words of the answer below them. The text says both. */
function toPlanBody(plan: Plan, { text, blocks }: TabledMessage): Body {
  const words = [toPlanText(plan), text].filter((each) => each !== '').join('\n\n');
  return {
    text: cut(words, longestText),
    blocks: [toPlanBlock(plan), ...blocks.filter((block) => block['text'] !== '')],
  };
}

/** The body in plain text. Only buttons and long text need blocks. */
function toPlainBody(part: Part, message: TabledMessage, longest = Infinity): Body {
  const { text } = message;
  const { buttons = [], plan } = part;
  if (plan !== undefined) return { text: toPlanBody(plan, message).text };
  if (buttons.length === 0 && text.length <= longest) return { text };
  return { text: cut(text, longestText), blocks: [...plainSections(part), ...toButtonBlocks(buttons)] };
}

function plainSections({ markdown }: Part): readonly SlackBlock[] {
  const points = [...(markdown.trim() || '-')];
  return Array.from({ length: Math.ceil(points.length / longestSection) }, (_, index) => {
    const piece = points.slice(index * longestSection, (index + 1) * longestSection).join('');
    return { type: 'section', text: { type: 'plain_text', text: piece, emoji: false } };
  });
}

const longestSection = 3000;
/** chat.update accepts no longer text beside blocks. */
const longestText = 4000;

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

function paused(pace: RateLimiter, key: string, error: SendError): SendError {
  if (error.retryAfterMs !== undefined) pace.pause(key, error.retryAfterMs);
  return error;
}

function asRetry(error: SendError): SendError {
  return error.outcome === 'unknown' ? new SendError('retry', error.message, { cause: error }) : error;
}
