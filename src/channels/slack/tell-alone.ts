import type { Press } from '../../core/channel.ts';
import type { CallSlack } from './call-slack.ts';
import { escapeText } from './escape-text.ts';
import { userOf } from './slack-identity.ts';

/** Shows who pressed a button, and nobody else, some plain words beside it. Rejects where Slack does not. */
export async function tellAlone(call: CallSlack, press: Press, words: string): Promise<void> {
  const { conversation, sender, receipt } = press;
  const { chat, thread } = conversation;
  await call('chat.postEphemeral', {
    channel: chat,
    // In a thread that nobody has begun yet it would not be seen.
    ...(thread === undefined || thread === receipt?.id ? {} : { thread_ts: thread }),
    user: userOf(sender.id),
    text: escapeText(words),
  });
}
