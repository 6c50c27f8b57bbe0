import type { Clock } from '../../core/clock.ts';
import { conversationKey, type Conversation } from '../../core/conversation.ts';
import type { Status } from '../../core/channel.ts';
import type { Pace } from '../pace.ts';
import { textOf, type CallSlack } from './call-slack.ts';
import { escapeText } from './escape-text.ts';
import { findKey, keyMetadata } from './find-key.ts';
import { slackErrorCode } from './slack-error.ts';

/** How a status is shown: by Slack's own line under a thread, by a message of the bot, or (a typing sign where there is no line) not at all. */
export type Shown = Readonly<{ by: 'line' } | { by: 'message'; ts: string } | { by: 'nothing' }>;

/** Puts one status on show and takes it away. Both throw what the call threw. */
export type StatusDisplay = Readonly<{
  /** `before` is what shows now. `later`: answers have the channel to themselves at the moment (H8). */
  put(conversation: Conversation, status: Status, before: Shown | undefined): Promise<Shown | 'later'>;
  remove(conversation: Conversation, shown: Shown): Promise<void>;
}>;

/** The line where there is a thread that takes it (a refusal is remembered), else one message that changes. */
export function createStatusDisplay(call: CallSlack, pace: Pace, clock: Clock): StatusDisplay {
  const refused = new Set<string>();

  const setLine = async (conversation: Conversation, status: string): Promise<boolean> => {
    const { chat, thread } = conversation;
    if (thread === undefined || refused.has(chat) || refused.has(conversationKey(conversation))) return false;
    try {
      await call('assistant.threads.setStatus', { channel_id: chat, thread_ts: thread, status });
      return true;
    } catch (error) {
      const code = slackErrorCode(error);
      if (code === undefined || code === 'ratelimited') throw error;
      if (refused.size > 5000) refused.clear();
      refused.add(code === 'invalid_thread_ts' ? conversationKey(conversation) : chat);
      return false;
    }
  };

  const post = async (conversation: Conversation, text: string): Promise<string> => {
    const { chat, thread } = conversation;
    const key = `status:${conversationKey(conversation)}:${clock.now()}`;
    const where = { channel: chat, ...(thread === undefined ? {} : { thread_ts: thread }) };
    const fixed = { metadata: keyMetadata(key), unfurl_links: false, unfurl_media: false };
    try {
      return textOf(await call('chat.postMessage', { ...where, ...fixed, text }), 'ts');
    } catch (error) {
      // Slack may have taken it all the same, and then it must not be left behind (H7).
      const ts = slackErrorCode(error) === undefined ? await findKey(call, conversation, key) : undefined;
      if (ts === undefined) throw error;
      return ts;
    }
  };

  return {
    async put(conversation, status, before) {
      const line = status.kind === 'typing' ? 'is thinking…' : status.text;
      if (before?.by !== 'message' && (await setLine(conversation, line))) return { by: 'line' };
      if (status.kind === 'typing') return before ?? { by: 'nothing' };
      const text = `_${escapeText(line)}_`;
      if (before?.by === 'message') {
        await call('chat.update', { channel: conversation.chat, ts: before.ts, text });
        return before;
      }
      return pace.take(conversation.chat) ? { by: 'message', ts: await post(conversation, text) } : 'later';
    },

    async remove({ chat, thread }, shown) {
      if (shown.by === 'line') {
        await call('assistant.threads.setStatus', { channel_id: chat, thread_ts: thread, status: '' });
      }
      if (shown.by === 'message') await deleteMessage(call, chat, shown.ts);
    },
  };
}

async function deleteMessage(call: CallSlack, channel: string, ts: string): Promise<void> {
  try {
    await call('chat.delete', { channel, ts });
  } catch (error) {
    if (slackErrorCode(error) !== 'message_not_found') throw error;
  }
}
