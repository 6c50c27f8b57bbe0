import { agentMethods } from './agent-methods.ts';
import { isStreaming } from './chat-methods.ts';
import { messageBody, reactionEvent, type Json } from './event-payloads.ts';
import { manifest } from './manifest.ts';
import {
  isTrue,
  memberRoom,
  refuse,
  roomOf,
  structured,
  text,
  type Handler,
  type MethodContext,
} from './method-context.ts';
import type { SlackRoom, SlackUser, StoredMessage } from './workspace.ts';

/** Everything that is not chat.*: who is who, rooms and their histories, status, reactions. */
export const otherMethods: Readonly<Record<string, Handler>> = {
  'auth.test': (_args, { workspace }) => ({
    url: 'https://skillet-test.slack.com/',
    team: 'Skillet Test',
    user: workspace.bot.name,
    team_id: workspace.team,
    user_id: workspace.bot.user,
    bot_id: workspace.bot.botId,
    is_enterprise_install: false,
  }),
  'apps.connections.open': (_args, { socketUrl }) => ({ url: socketUrl() }),
  'bots.info': (args, { workspace }) =>
    text(args, 'bot') === workspace.bot.botId
      ? {
          bot: {
            id: workspace.bot.botId,
            deleted: false,
            name: workspace.bot.name,
            app_id: workspace.bot.appId,
            user_id: workspace.bot.user,
          },
        }
      : refuse('bot_not_found'),
  'team.info': (_args, { workspace }) => ({
    team: { id: workspace.team, name: 'Skillet Test', domain: 'skillet-test' },
  }),
  'users.info': (args, { workspace }) => {
    const user = workspace.users.get(text(args, 'user'));
    if (user === undefined) return refuse('user_not_found');
    const asked = isTrue(args['include_locale']) && user.locale !== undefined;
    const body = {
      ...userBody(user, workspace.team),
      ...(asked ? { locale: user.locale } : {}),
      ...(user.tz === undefined ? {} : { tz: user.tz }),
    };
    return user.hidden ? refuse('user_not_visible') : { user: body };
  },
  'usergroups.users.list': (args, { workspace }) => {
    const users = workspace.userGroups.get(text(args, 'usergroup'));
    return users === undefined ? refuse('no_such_subteam') : { users: [...users] };
  },

  'conversations.info': (args, context) => ({ channel: roomBody(roomOf(args, context), context) }),
  'conversations.members': (args, context) => ({
    members: [...roomOf(args, context).members],
    response_metadata: { next_cursor: '' },
  }),
  'conversations.open': (args, context) => {
    const users = text(args, 'users')
      .split(',')
      .filter((id) => id !== '');
    if (users.length === 0) return refuse('users_list_not_supplied');
    if (users.some((id) => !context.workspace.users.has(id))) return refuse('user_not_found');
    const [user] = users;
    const room =
      users.length === 1 && user !== undefined
        ? context.workspace.dmWith(user)
        : context.workspace.addRoom('mpim', { members: users });
    return { channel: { id: room.id } };
  },
  'conversations.history': (args, context) => {
    const room = memberRoom(args, context);
    const roots = room.messages.filter(({ ts, threadTs, deleted }) => !deleted && (threadTs ?? ts) === ts);
    return pageOf(roots.reverse(), args, context);
  },
  'conversations.replies': (args, context) => {
    const room = memberRoom(args, context);
    const thread = text(args, 'ts');
    if (context.workspace.message(room.id, thread) === undefined) return refuse('thread_not_found');
    const replies = room.messages.filter(
      ({ ts, threadTs, deleted }) => !deleted && (ts === thread || threadTs === thread),
    );
    return pageOf(replies, args, context);
  },

  ...agentMethods,
  'reactions.add': (args, context) => react(args, context, 'added'),
  'reactions.remove': (args, context) => react(args, context, 'removed'),
  'views.open': (args, { views }) => {
    const view = structured(args, 'view', 'invalid_arguments') as Json;
    const outcome = views.open(text(args, 'trigger_id'), view);
    if ('error' in outcome) return refuse(outcome.error, outcome.messages);
    return { view: { ...view, id: outcome.opened.id } };
  },
  'views.publish': (args, { workspace, views }) => {
    const view = structured(args, 'view', 'invalid_arguments') as Json;
    if (!manifest.features.app_home.home_tab_enabled) return refuse('not_enabled');
    const user = workspace.users.get(text(args, 'user_id'));
    if (user === undefined || user.isBot) return refuse('user_not_found');
    const outcome = views.publish(user.id, view, text(args, 'hash'));
    if ('error' in outcome) return refuse(outcome.error, outcome.messages);
    const { id, hash } = outcome.published;
    return { view: { ...view, id, hash } };
  },
};

function pageOf(messages: readonly StoredMessage[], args: Json, context: MethodContext): Json {
  const { workspace } = context;
  const limit = Math.min(Number(args['limit'] ?? 100) || 100, 999);
  const cursor = text(args, 'cursor');
  const start = cursor === '' ? 0 : Number(Buffer.from(cursor, 'base64').toString());
  if (!Number.isInteger(start)) return refuse('invalid_cursor');
  const within = messages.filter(
    ({ ts }) =>
      (args['oldest'] === undefined || ts >= text(args, 'oldest')) &&
      (args['latest'] === undefined || ts <= text(args, 'latest')),
  );
  const end = start + limit;
  const withMetadata = isTrue(args['include_all_metadata']);
  return {
    messages: within.slice(start, end).map((message) => {
      isStreaming(message, context);
      const { metadata, ...body } = messageBody(workspace, message);
      return withMetadata && metadata !== undefined ? { ...body, metadata } : body;
    }),
    has_more: end < within.length,
    response_metadata: {
      next_cursor: end < within.length ? Buffer.from(String(end)).toString('base64') : '',
    },
  };
}

function react(args: Json, context: MethodContext, change: 'added' | 'removed'): Json {
  const room = roomOf(args, context);
  const name = text(args, 'name');
  const message = context.workspace.message(room.id, text(args, 'timestamp'));
  if (!/^[\p{L}\p{N}_+'-]+(::skin-tone-[2-6])?$/u.test(name)) return refuse('invalid_name');
  if (message === undefined) return refuse('message_not_found');
  const others = (message.reactions ?? []).filter((one) => one !== name);
  const isThere = others.length < (message.reactions ?? []).length;
  if (change === 'added' && isThere) return refuse('already_reacted');
  if (change === 'removed' && !isThere) return refuse('no_reaction');
  message.reactions = change === 'added' ? [...others, name] : others;
  const told = { user: context.workspace.bot.user, reaction: name, change };
  context.emit({ room, event: reactionEvent(context.workspace, message, told) });
  context.shown({ kind: 'reaction', change, channel: room.id, ts: message.ts, name });
  return {};
}

function roomBody(room: SlackRoom, { workspace }: MethodContext): Json {
  if (room.kind === 'im') {
    const user = [...room.members].find((id) => id !== workspace.bot.user);
    return { id: room.id, is_im: true, is_org_shared: false, is_ext_shared: room.external, user };
  }
  return {
    id: room.id,
    name: room.name,
    is_channel: room.kind === 'channel' || room.kind === 'group',
    is_group: false,
    is_im: false,
    is_mpim: room.kind === 'mpim',
    is_private: room.kind !== 'channel',
    is_archived: room.archived,
    is_ext_shared: room.external,
    is_shared: room.external,
    is_member: room.members.has(workspace.bot.user),
  };
}

/** Slack says `is_stranger` only of members of other workspaces, and leaves an unset display name empty. */
function userBody(user: SlackUser, team: string): Json {
  return {
    id: user.id,
    team_id: user.team,
    name: user.name,
    deleted: false,
    real_name: user.realName,
    profile: {
      real_name: user.realName,
      display_name: user.displayName,
      real_name_normalized: user.realName,
      display_name_normalized: user.displayName,
      team: user.team,
    },
    is_restricted: false,
    is_bot: user.isBot,
    ...(user.team === team ? {} : { is_stranger: true }),
    updated: 1502138686,
  };
}
