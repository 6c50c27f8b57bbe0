import { z } from 'zod';
import type { ChannelEvent } from '../../core/channel.ts';
import { fixed } from '../../core/texts/say.ts';

const enough = 3;
const mostChats = 10_000;

const heard = z.object({
  event: z.object({
    type: z.enum(['message', 'app_mention']),
    channel: z.string(),
    ts: z.string().optional(),
  }),
});

/** Returns whether the app lacks message events, because Slack sends each mention as a message, too. */
export function createMissedMessages(): (payload: unknown) => boolean {
  const chats = new Map<string, Set<string> | undefined>();
  return (payload) => {
    const read = heard.safeParse(payload);
    if (!read.success) return false;
    const { type, channel, ts } = read.data.event;
    if (chats.size >= mostChats) chats.clear();
    if (type === 'message') {
      chats.set(channel, undefined);
      return false;
    }
    const mentions = chats.has(channel) ? chats.get(channel) : new Set<string>();
    if (mentions === undefined || ts === undefined) return false;
    chats.set(channel, mentions.add(ts));
    return mentions.size >= enough;
  };
}

/** Tells the owners which subscriptions are missing. */
export const missedMessages: ChannelEvent = {
  type: 'notice',
  key: 'slack:messages',
  markdown: fixed`Slack sends me mentions, but no other messages, so I can’t follow threads there. At api.slack.com/apps, under Event Subscriptions, add the bot events \`message.channels\` and \`message.groups\`, then install the app again.`,
};
