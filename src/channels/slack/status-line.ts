import type { Placeholder, Receipt } from '../../core/channel.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { SendError } from '../../core/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Pace } from '../pace.ts';
import { splitMarkdown } from '../../lib/markdown/split-markdown.ts';
import { createPlaceholderLine, type PlaceholderLine, type Wish } from '../placeholder-line.ts';
import { textOf, type CallSlack } from './call-slack.ts';
import { updatePace, type Sender } from './create-sender.ts';
import { escapeText } from './escape-text.ts';
import { keyMetadata } from './find-key.ts';
import { slackFits, toSlackMessage } from './from-markdown.ts';
import { toSendError } from './slack-error.ts';

/** Changes come at most so often: `chat.update` is limited over the whole workspace. */
const everyMs = 1000;

/** The message of one piece of work: a line, for where Slack has none of its own, or the answer's words (H6). */
export function createStatusLine(options: {
  conversation: Conversation;
  placeholder: Placeholder;
  call: CallSlack;
  sender: Sender;
  posts: Pace;
  edits: Pace;
  clock: Clock;
  log: Log;
}): PlaceholderLine {
  const { conversation, placeholder, call, sender, posts, edits, clock, log } = options;
  const { chat, thread } = conversation;

  function failed(error: unknown, pace: Pace, key: string): SendError {
    const told = toSendError(error, 'a status');
    if (told.retryAfterMs !== undefined) pace.pause(key, told.retryAfterMs);
    return told;
  }

  async function post(wish: Wish): Promise<Receipt> {
    const where = { channel: chat, ...(thread === undefined ? {} : { thread_ts: thread }) };
    const fixed = { metadata: keyMetadata(placeholder.key), unfurl_links: false, unfurl_media: false };
    try {
      return {
        id: textOf(await call('chat.postMessage', { ...where, ...fixed, ...shownAs(wish) }), 'ts'),
      };
    } catch (error) {
      const told = failed(error, posts, chat);
      // Slack may have taken it all the same, and then it must not be left behind (H7).
      const found = told.outcome === 'unknown' ? await sender.find(conversation, placeholder.key) : undefined;
      if (found === undefined) throw told;
      return found;
    }
  }

  return createPlaceholderLine({
    placeholder,
    everyMs,
    clock,
    log,
    calls: {
      mayGo: (what) => (what === 'post' ? posts.take(chat) : edits.take(updatePace)),
      post,
      async edit({ id }, wish) {
        try {
          await call('chat.update', { channel: chat, ts: id, ...shownAs(wish) });
        } catch (error) {
          throw failed(error, edits, updatePace);
        }
      },
      remove: (receipt) => sender.remove(conversation, receipt),
    },
  });
}

function shownAs(wish: Wish): Readonly<{ text: string; blocks: readonly object[] }> {
  if (wish.kind === 'line') return { text: `_${escapeText(wish.text)}_`, blocks: [] };
  const [piece = ''] = splitMarkdown(wish.markdown, slackFits);
  return toSlackMessage(piece);
}
