import { z } from 'zod';
import { actionOf } from './buttons.ts';
import {
  blockActions,
  eventCallback,
  messageEvent,
  reactionChange,
  sessionStopped,
  slashCommand,
  type MessageEvent,
} from './payloads.ts';
import { plainSlackText, noNames, slackName, type Names } from './plain-text.ts';
import type { SlackIdentity } from './slack-options.ts';
import {
  senderKind,
  toConversation,
  fromSlackMessage,
  millisecondsOf,
  type ConvertedMessage,
} from './to-message.ts';
import type { ChannelEvent, Press, StopPress } from '../../core/channel.ts';
import type { Message } from '../../core/message.ts';
import { thumbAction, type Thumb } from '../../core/rating.ts';

const id = z.string().min(1);

const joined = z.object({
  type: z.literal('member_joined_channel'),
  user: id,
  channel: id,
  inviter: z.string().nullish(),
});

const left = z.object({ type: z.enum(['channel_left', 'group_left']), channel: id });

export type Followed = Extract<ChannelEvent, { type: 'message' | 'edited' | 'deleted' }>;

/** What a payload means and whose names it needs, or why it is ignored. */
export type Converted<What> = WithPeople<What> | Readonly<{ ignored: string }>;
export type WithPeople<What> = What & Readonly<{ people: readonly string[] }>;

/** Reads a payload and never throws (H4). `names` contains those that are known so far. */
export type Convert<What> = (payload: unknown, me: SlackIdentity, names?: Names) => Converted<What>;

type Said = Readonly<{ event: Followed; followable: boolean }>;
/** A slash command. `trigger` opens a form within 3 s. */
export type Slash = Readonly<{ message: Message; trigger: string }>;
type Pressed = Readonly<{ press: Press; trigger?: string }>;

/** Reads the events `message` and `app_mention`: something was said, edited or deleted. */
export const fromSlackSaid: Convert<Said> = (payload, me, names = noNames) => {
  const wrapper = eventCallback.safeParse(payload);
  if (!wrapper.success) return { ignored: 'malformed event_callback' };
  const { event, is_ext_shared_channel, team_id, authorizations } = wrapper.data;
  const message = messageEvent.safeParse(event);
  if (!message.success) return { ignored: `malformed ${word(event.type)}` };
  // Other workspaces may write in this chat.
  const isHome = (team_id || authorizations?.[0]?.team_id) === me.team;
  return fromMessage(message.data, is_ext_shared_channel === true || !isHome, me, names);
};

/** Subtypes of messages that a person, or another bot, has said (A9). */
export const spoken: readonly string[] = ['file_share', 'thread_broadcast', 'me_message', 'bot_message'];

const notice =
  /^(assistant_app_thread|tombstone|message_replied|(un)?pinned_item|huddle_thread|reminder_\w+)$|_(add|remove|join|leave|topic|purpose|name|archive|unarchive|enable|disable|created|changed|deleted|updated|permissions|denied|notification)$/;

function fromMessage(
  event: MessageEvent,
  external: boolean,
  me: SlackIdentity,
  names: Names,
): Converted<Said> {
  const place = { chat: event.channel, channelType: event.channel_type, external };
  if (event.subtype === 'message_deleted') {
    const { previous_message: gone } = event;
    if (!gone) return { ignored: 'deletion of something unknown' };
    const heard = fromSlackMessage(gone, place, me, names);
    return 'ignored' in heard ? heard : converted({ type: 'deleted', message: heard.message }, heard);
  }
  if (event.subtype === 'message_changed') {
    const { message: now, previous_message: before } = event;
    if (!now) return { ignored: 'edit without a message' };
    if (now.subtype && !spoken.includes(now.subtype)) return { ignored: `edit of a ${word(now.subtype)}` };
    if (before && before.text === now.text) return { ignored: 'edit that leaves the text' };
    const heard = fromSlackMessage({ ...now, ts: now.ts ?? before?.ts }, place, me, names);
    if ('ignored' in heard) return heard;
    const at = now.edited?.ts ? { at: now.edited.ts } : {};
    return converted({ type: 'edited', message: heard.message, ...at }, heard);
  }
  const odd = event.subtype && !spoken.includes(event.subtype) ? event.subtype : undefined;
  // In a direct message somebody waits for an answer.
  if (odd !== undefined && (event.channel_type !== 'im' || notice.test(odd)))
    return { ignored: `message subtype ${word(odd)}` };
  const { root, ...own } = event;
  // Words of Slack itself are nobody's words.
  const said = odd === undefined ? own : { ...own, text: '', blocks: [], attachments: [], files: [] };
  const heard = fromSlackMessage(said, { ...place, quoted: root || undefined }, me, names);
  return 'ignored' in heard ? heard : converted({ type: 'message', message: heard.message }, heard);
}

function converted(event: Followed, { followable, people }: ConvertedMessage): Converted<Said> {
  return { event, followable, people };
}

/** Reads a slash command. Slack gives it no date, so it gets `now`. */
export function toSlash(
  payload: unknown,
  me: SlackIdentity,
  now: number,
  names: Names = noNames,
): Converted<Slash> {
  const read = slashCommand.safeParse(payload);
  if (!read.success) return { ignored: 'malformed slash command' };
  const slash = read.data;
  const name = slash.command === me.command ? 'skill' : slash.command.slice(1).toLowerCase();
  const { commandText: args, people } = plainSlackText(slash.text ?? '', me.user, names);
  const message: Message = {
    id: `slack:${me.team}:${slash.channel_id}:slash:${slash.trigger_id}`,
    conversation: { channel: 'slack', chat: slash.channel_id },
    chatType: 'unknown',
    external: senderKind(slash.team_id, true, me) === 'guest',
    sender: {
      id: `slack:${slash.user_id}`,
      name: names.get(slash.user_id) ?? slackName(slash.user_name) ?? slash.user_id,
      kind: senderKind(slash.team_id, true, me),
    },
    text: `/${name} ${args}`.trim(),
    addressed: true,
    command: { name, args },
    attachments: [],
    sentAt: now,
  };
  return { message, people: [slash.user_id, ...people], trigger: slash.trigger_id };
}

/** Reads a press on a button of a message. */
export const fromSlackPress: Convert<Pressed> = (payload, me, names = noNames) => {
  const read = blockActions.safeParse(payload);
  if (!read.success) return { ignored: 'block_actions without a message' };
  const { user, container, message, channel, actions, trigger_id } = read.data;
  const chat = container.channel_id || channel?.id;
  if (!chat) return { ignored: 'press outside a channel' };
  const pressed = actions[0];
  const action = pressed && actionOf(pressed);
  if (action === undefined) return { ignored: 'press of a link or of a button that is not ours' };
  const thread = container.thread_ts ?? message?.thread_ts ?? undefined;
  const kind = senderKind(user.team_id, true, me);
  const press: Press = {
    id: `slack:${me.team}:${chat}:${container.message_ts}:press:${user.id}:${pressed?.action_ts ?? ''}`,
    // An ephemeral message has no thread of its own.
    conversation: container.is_ephemeral
      ? { channel: 'slack', chat, thread }
      : toConversation(chat, thread, container.message_ts, 'unknown'),
    ephemeral: container.is_ephemeral ? true : undefined,
    chatType: 'unknown',
    external: kind === 'guest',
    sender: {
      id: `slack:${user.id}`,
      name: names.get(user.id) ?? slackName(user.name, user.username) ?? user.id,
      kind,
    },
    action,
    receipt: { id: container.message_ts },
    at: pressed?.action_ts ? millisecondsOf(pressed.action_ts) : undefined,
  };
  return { press, people: [user.id], trigger: trigger_id || undefined };
};

/** Names of thumbs, without a colour of the skin. */
const thumbs: ReadonlyMap<string, Thumb> = new Map([
  ['+1', 'up'],
  ['thumbsup', 'up'],
  ['-1', 'down'],
  ['thumbsdown', 'down'],
]);

/** Reads a reaction with a thumb to a message of the bot. Slack does not name its thread. */
export const fromSlackReaction: Convert<Pressed> = (payload, me, names = noNames) => {
  const wrapper = eventCallback.safeParse(payload);
  if (!wrapper.success) return { ignored: 'malformed event_callback' };
  const { event, is_ext_shared_channel, team_id, authorizations } = wrapper.data;
  const read = reactionChange.safeParse(event);
  if (!read.success) return { ignored: `malformed ${word(event.type)}` };
  const { type, user, reaction, item_user: author, item, event_ts: at } = read.data;
  const thumb = thumbs.get(reaction.split('::')[0] ?? '');
  if (thumb === undefined || author !== me.user || user === me.user)
    return { ignored: 'a reaction that rates no answer' };
  const isHome = (team_id || authorizations?.[0]?.team_id) === me.team;
  const press: Press = {
    id: `slack:${me.team}:${item.channel}:${item.ts}:reaction:${user}:${at}`,
    conversation: { channel: 'slack', chat: item.channel },
    chatType: 'unknown',
    external: is_ext_shared_channel === true || !isHome,
    sender: { id: `slack:${user}`, name: names.get(user) ?? user, kind: 'person' },
    action: thumbAction(thumb, type === 'reaction_removed' ? 'taken back' : undefined),
    receipt: { id: item.ts },
    at: millisecondsOf(at),
  };
  return { press, people: [user] };
};

type Stopped = Readonly<{ stop: StopPress }>;

/** Reads a press on the stop button that Slack shows in a thread while the bot works. */
export const fromSlackStop: Convert<Stopped> = (payload, me, names = noNames) => {
  const wrapper = eventCallback.safeParse(payload);
  if (!wrapper.success) return { ignored: 'malformed event_callback' };
  const { event, is_ext_shared_channel, team_id, authorizations } = wrapper.data;
  const read = sessionStopped.safeParse(event);
  if (!read.success) return { ignored: `malformed ${word(event.type)}` };
  const { channel: chat, user, thread_ts: thread, event_ts: at } = read.data;
  const isHome = (team_id || authorizations?.[0]?.team_id) === me.team;
  const stop: StopPress = {
    id: `slack:${me.team}:${chat}:${thread}:stop:${at}`,
    conversation: { channel: 'slack', chat, thread },
    chatType: 'unknown',
    external: is_ext_shared_channel === true || !isHome,
    // Slack does not name the person's team here, but they can only end their own work, or are an owner (A9).
    sender: { id: `slack:${user}`, name: names.get(user) ?? user, kind: 'person' },
    at: millisecondsOf(at),
  };
  return { stop, people: [user] };
};

function word(name: string): string {
  return /^\w[\w.]{0,59}$/.test(name) ? name : 'with an odd name';
}

type Standing = Extract<ChannelEvent, { type: 'joined' | 'left' }>;

export function fromSlackStanding(
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
