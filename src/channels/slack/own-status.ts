import type { Placeholder } from '../../core/channel.ts';
import type { Conversation } from '../../core/conversation.ts';
import { slackErrorCode, type CallSlack } from './slack-error.ts';

/** Slack's own signs of work: a line under a thread, or else a reaction on the message. */
type OwnStatus = Readonly<{
  /** Shows a status; '' removes it. False if Slack has none here. */
  set(conversation: Conversation, status: string, placeholder: Placeholder): Promise<boolean>;
}>;

/** Makes Slack's own signs. Without `mark`, messages have a receipt reaction instead (H13). */
export function createOwnStatus(call: CallSlack, mark: boolean): OwnStatus {
  const refused = new Set<string>();
  return {
    async set({ chat, thread }, status, { asked }) {
      const message = thread ?? asked;
      if (message === undefined) return false;
      if (thread === undefined && !mark) return true;
      const [method, args] =
        thread === undefined
          ? ([
              status === '' ? 'reactions.remove' : 'reactions.add',
              { ...at(chat, message), name: 'eyes' },
            ] as const)
          : (['assistant.threads.setStatus', { channel_id: chat, thread_ts: thread, status }] as const);
      const everywhere = `${method} ${chat}`;
      const here = `${everywhere} ${message}`;
      if (refused.has(everywhere) || refused.has(here)) return false;
      try {
        await call(method, args);
        return true;
      } catch (error) {
        const code = slackErrorCode(error);
        if (code === undefined || code === 'ratelimited') throw error;
        if (code === 'already_reacted' || code === 'no_reaction') return true;
        if (refused.size > 5000) refused.clear();
        refused.add(ofOneMessage.includes(code) ? here : everywhere);
        return false;
      }
    },
  };
}

const ofOneMessage: readonly string[] = [
  'invalid_thread_ts',
  'message_not_found',
  'too_many_emoji',
  'too_many_reactions',
];

const at = (channel: string, timestamp: string) => ({ channel, timestamp });
