import { conversationKey, type Conversation } from '../../core/conversation.ts';
import type { CallSlack } from './call-slack.ts';
import { slackErrorCode } from './slack-error.ts';

/** Slack's own status line under a thread. */
export type ThreadStatus = Readonly<{
  /** Sets the line, an empty one takes it away; false where Slack has none here, which is remembered. Throws what the call threw. */
  set(conversation: Conversation, status: string): Promise<boolean>;
}>;

export function createThreadStatus(call: CallSlack): ThreadStatus {
  const refused = new Set<string>();
  return {
    async set(conversation, status) {
      const { chat, thread } = conversation;
      if (thread === undefined || refused.has(chat) || refused.has(conversationKey(conversation)))
        return false;
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
    },
  };
}
