import type { SlackRoom, StoredMessage, Workspace } from './workspace.ts';

export type Json = Readonly<Record<string, unknown>>;

/** What the Events API wraps around an event. Each has an `event_id` of its own, twins too. */
export function wrapEvent(workspace: Workspace, room: SlackRoom | undefined, event: Json): Json {
  return {
    token: 'legacy-verification-token',
    team_id: workspace.team,
    context_team_id: workspace.team,
    context_enterprise_id: null,
    api_app_id: workspace.bot.appId,
    event,
    type: 'event_callback',
    event_id: workspace.nextId('Ev'),
    event_time: Math.floor(Date.now() / 1000),
    authorizations: [
      {
        enterprise_id: null,
        team_id: workspace.team,
        user_id: workspace.bot.user,
        is_bot: true,
        is_enterprise_install: false,
      },
    ],
    is_ext_shared_channel: room?.external ?? false,
    event_context: `4-${workspace.nextId('ctx')}`,
  };
}

/** The message as it stands inside events and histories. */
export function messageBody(workspace: Workspace, message: StoredMessage): Json {
  const author = workspace.users.get(message.user);
  return {
    type: 'message',
    user: message.user,
    text: message.text,
    ts: message.ts,
    team: author?.team ?? workspace.team,
    ...(message.botId === undefined
      ? { client_msg_id: `${message.ts}-client`, user_team: author?.team, source_team: author?.team }
      : {
          bot_id: message.botId,
          app_id: message.botId === workspace.bot.botId ? workspace.bot.appId : 'AOTHER',
        }),
    ...(message.blocks === undefined ? {} : { blocks: message.blocks }),
    ...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
    ...(message.attachments === undefined ? {} : { attachments: message.attachments }),
    ...(message.files === undefined ? {} : { files: message.files, subtype: 'file_share' }),
    ...(message.subtype === undefined ? {} : { subtype: message.subtype }),
    ...(message.metadata === undefined ? {} : { metadata: message.metadata }),
    ...(message.streaming === undefined ? {} : { streaming_state: message.streaming.state }),
    ...(message.edited === undefined ? {} : { edited: { user: message.user, ts: message.edited } }),
  };
}

/** `message.*`: what tells a room's kind. */
export function messageEvent(workspace: Workspace, room: SlackRoom, message: StoredMessage): Json {
  const channel_type = room.kind;
  const body = messageBody(workspace, message);
  return { ...body, channel: room.id, event_ts: message.ts, channel_type };
}

/** The other twin: same channel and ts, no channel type. */
export function mentionEvent(workspace: Workspace, room: SlackRoom, message: StoredMessage): Json {
  const { subtype: _, ...body } = messageBody(workspace, message);
  return { ...body, type: 'app_mention', channel: room.id, event_ts: message.ts };
}

/** Somebody (the bot, too) reacted to a message. It names no thread. */
export function reactionEvent(
  workspace: Workspace,
  message: StoredMessage,
  what: Readonly<{ user: string; reaction: string; change: 'added' | 'removed' }>,
): Json {
  const { user, reaction, change } = what;
  const item = { type: 'message', channel: message.channel, ts: message.ts };
  const event_ts = workspace.nextTs();
  return { type: `reaction_${change}`, user, reaction, item_user: message.user, item, event_ts };
}

/** Somebody (the bot, too) changed or deleted a message: the user is nested, so it is easily taken for a new message. */
export function changeEvent(
  workspace: Workspace,
  room: SlackRoom,
  before: StoredMessage,
  after: StoredMessage | undefined,
): Json {
  const ts = workspace.nextTs();
  const change = after === undefined ? { deleted_ts: before.ts } : { message: messageBody(workspace, after) };
  return {
    type: 'message',
    subtype: after === undefined ? 'message_deleted' : 'message_changed',
    hidden: true,
    ...change,
    previous_message: messageBody(workspace, before),
    channel: room.id,
    ts,
    event_ts: ts,
    channel_type: room.kind,
  };
}
