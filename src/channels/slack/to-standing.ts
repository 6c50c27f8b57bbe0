import { z } from 'zod';
import type { ChannelEvent } from '../../core/channel.ts';
import { eventCallback } from './payloads.ts';
import { noNames, type Names } from './shown-name.ts';
import type { SlackIdentity } from './slack-identity.ts';

type Standing = Extract<ChannelEvent, { type: 'joined' | 'left' }>;

const id = z.string().min(1);
const joined = z.object({
  type: z.literal('member_joined_channel'),
  user: id,
  channel: id,
  inviter: z.string().nullish(),
});
const left = z.object({ type: z.enum(['channel_left', 'group_left']), channel: id });

/** That the bot itself came into a channel of its workspace, or went; `undefined` for any other payload. `people`: who is shown in it. */
export function toStanding(
  payload: unknown,
  me: SlackIdentity,
  names: Names = noNames,
): Readonly<{ event: Standing; people: readonly string[] }> | undefined {
  const wrapper = eventCallback.safeParse(payload);
  if (!wrapper.success) return undefined;
  const { event, team_id, authorizations } = wrapper.data;
  if ((team_id || authorizations?.[0]?.team_id) !== me.team) return undefined;
  const gone = left.safeParse(event);
  if (gone.success)
    return {
      event: { type: 'left', conversation: { channel: 'slack', chat: gone.data.channel } },
      people: [],
    };
  const come = joined.safeParse(event);
  if (!come.success || come.data.user !== me.user) return undefined;
  const { channel: chat, inviter } = come.data;
  const conversation = { channel: 'slack', chat };
  if (!inviter) return { event: { type: 'joined', conversation }, people: [] };
  const by = { id: `slack:${inviter}`, name: names.get(inviter) ?? inviter };
  return { event: { type: 'joined', conversation, by }, people: [inviter] };
}
