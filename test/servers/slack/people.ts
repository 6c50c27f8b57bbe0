import type { Attempt, Delivered, Delivery, DeliveryKnobs, Outbound } from './delivery.ts';
import { changeEvent, mentionEvent, messageEvent, reactionEvent, type Json } from './event-payloads.ts';
import { homePress, homeVisit } from './home-visits.ts';
import { pressPayload } from './press-payload.ts';
import type { ResponseUrls } from './response-urls.ts';
import { stateOf, type OpenView, type Views } from './views.ts';
import type { SlackRoom, SlackUser, StoredMessage, Workspace } from './workspace.ts';

/** Something a person (or another bot) said, and the delivery of its events. */
export type SaidOnSlack = Readonly<{
  channel: string;
  ts: string;
  /** Every event of it was acknowledged or given up. */
  delivered: Promise<readonly Delivered[]>;
}>;

type PostOptions = Readonly<{
  /** Root `ts` of the thread. */
  thread?: string;
  files?: readonly Json[];
  attachments?: readonly Json[];
  subtype?: string;
  /** At once after what was written last; else it is two seconds later. */
  quick?: boolean;
  /** Another app speaks: its bot id. */
  asBot?: string;
}>;

/** What people do. Everything they do reaches the app as Slack would tell it. */
export type People = Readonly<{
  /** Writes to the bot directly. `text` is Slack markup: `&amp;`, `<@U…>`. */
  dm(user: SlackUser, text: string, options?: PostOptions): SaidOnSlack;
  /** Writes in a room. Where the text names the bot, the app gets both twins. */
  post(user: SlackUser, room: SlackRoom, text: string, options?: PostOptions): SaidOnSlack;
  /** `post` with the bot's mention before the text. */
  mention(user: SlackUser, room: SlackRoom, text: string, options?: PostOptions): SaidOnSlack;
  /** Uses the slash command; resolves with the app's answer, or with why Slack gave up. */
  slash(user: SlackUser, room: SlackRoom, text: string, command?: string): Promise<Attempt>;
  /** Presses the button, or picks the option, with this label on a message of the bot. */
  press(user: SlackUser, message: Readonly<{ channel: string; ts: string }>, label: string): Promise<Attempt>;
  /** The same on what was shown to this person alone: Slack names no message then. */
  pressAlone(user: SlackUser, ephemeral: Json, label: string): Promise<Attempt>;
  /**
   * Presses Slack's own stop button of a thread, which is there while the bot's session is processing. Slack ends the
   * bot's streams in that thread; the session stays as it is until the app changes it.
   */
  stop(user: SlackUser, thread: Readonly<{ channel: string; ts: string }>): Promise<readonly Delivered[]>;
  /** Adds a reaction to a message, by its name such as `+1`, or takes it away. */
  react(
    user: SlackUser,
    message: Readonly<{ channel: string; ts: string }>,
    reaction: string,
    change?: 'added' | 'removed',
  ): Promise<readonly Delivered[]>;
  /** Opens the Home tab. */
  openHome(user: SlackUser): Promise<readonly Delivered[]>;
  /** Opens the Messages tab: the direct message. */
  openMessages(user: SlackUser): Promise<readonly Delivered[]>;
  /** Presses the button with this label on the Home tab as it is shown now: Slack names no message and no channel then. */
  pressHome(user: SlackUser, label: string): Promise<Attempt>;
  /** Sends a modal with these values, by label; what is not named stays as it was shown. Resolves with the app's answer. */
  submit(
    user: SlackUser,
    opened: OpenView,
    entered: Readonly<Record<string, string | readonly string[]>>,
  ): Promise<Attempt>;
  /** Adds the bot to a room. */
  addBot(user: SlackUser, room: SlackRoom): Promise<readonly Delivered[]>;
  /** Takes the bot out of a room. */
  removeBot(room: SlackRoom): Promise<readonly Delivered[]>;
  edit(message: Readonly<{ channel: string; ts: string }>, text: string): Promise<readonly Delivered[]>;
  remove(message: Readonly<{ channel: string; ts: string }>): Promise<readonly Delivered[]>;
}>;

export function createPeople(
  workspace: Workspace,
  delivery: Delivery,
  knobs: DeliveryKnobs,
  responseUrls: ResponseUrls,
  views: Views,
): People {
  const { bot } = workspace;
  const reacted = new Set<string>();

  const post: People['post'] = (user, room, text, options = {}) => {
    const message: StoredMessage = {
      channel: room.id,
      ts: workspace.nextTs(options.quick === true ? 0 : 2),
      user: user.id,
      text,
      ...(options.thread === undefined ? {} : { threadTs: options.thread }),
      ...(options.files === undefined ? {} : { files: options.files }),
      ...(options.attachments === undefined ? {} : { attachments: options.attachments }),
      ...(options.subtype === undefined ? {} : { subtype: options.subtype }),
      ...(options.asBot === undefined ? {} : { botId: options.asBot }),
      edited: undefined,
      deleted: false,
    };
    room.messages.push(message);
    const { channel, ts } = message;
    return { channel, ts, delivered: delivery.send(eventsOf(room, message)) };
  };

  /** Nothing where the bot is not; both twins where it is named outside a direct message. */
  const eventsOf = (room: SlackRoom, message: StoredMessage): readonly Outbound[] => {
    if (!room.members.has(bot.user)) return [];
    const said = { room, event: messageEvent(workspace, room, message) };
    const named = room.kind !== 'im' && new RegExp(`<@${bot.user}(\\|[^>]*)?>`).test(message.text);
    if (!named) return [said];
    const mention = { room, event: mentionEvent(workspace, room, message) };
    return knobs.twins === 'mention-first' ? [mention, said] : [said, mention];
  };

  const find = ({ channel, ts }: Readonly<{ channel: string; ts: string }>): [SlackRoom, StoredMessage] => {
    const room = workspace.rooms.get(channel);
    const message = workspace.message(channel, ts);
    if (room === undefined || message === undefined) throw new Error(`no message ${channel} ${ts}`);
    return [room, message];
  };

  /** Slack leaves the message out where only one person sees it. */
  const pressed = (
    user: SlackUser,
    room: SlackRoom,
    stored: Pick<StoredMessage, 'ts' | 'blocks' | 'threadTs'>,
    label: string,
    more?: Json,
  ): Promise<Attempt> => {
    const place = {
      channel_id: room.id,
      ...(stored.threadTs === undefined ? {} : { thread_ts: stored.threadTs }),
    };
    return delivery.sendOnce('interactive', {
      ...pressPayload(workspace, views, user, stored, label),
      container: { type: 'message', message_ts: stored.ts, is_ephemeral: more === undefined, ...place },
      channel: { id: room.id, name: room.name },
      ...more,
      response_url: responseUrls.create(room.id),
    });
  };

  return {
    post,
    dm: (user, text, options) => post(user, workspace.dmWith(user.id), text, options),
    mention: (user, room, text, options) => post(user, room, `<@${bot.user}> ${text}`, options),

    slash: (user, room, text, command = '/skill') =>
      delivery.sendOnce('slash_commands', {
        token: 'legacy-verification-token',
        team_id: user.team,
        team_domain: 'skillet-test',
        channel_id: room.id,
        channel_name: { im: 'directmessage', mpim: 'mpdm-group', group: 'privategroup', channel: room.name }[
          room.kind
        ],
        user_id: user.id,
        user_name: user.name,
        command,
        text,
        api_app_id: bot.appId,
        is_enterprise_install: 'false',
        response_url: responseUrls.create(room.id),
        trigger_id: views.trigger(user.id),
      }),

    press(user, message, label) {
      const [room, stored] = find(message);
      return pressed(user, room, stored, label, {
        message: { type: 'message', ts: stored.ts, text: stored.text, user: stored.user },
      });
    },

    pressAlone(user, ephemeral, label) {
      const room = workspace.rooms.get(String(ephemeral['channel']));
      if (room === undefined || ephemeral['user'] !== user.id) throw new Error('nobody else sees it');
      const blocks = ephemeral['blocks'] as readonly Json[] | undefined;
      const shown = { ts: String(ephemeral['ts']), ...(blocks === undefined ? {} : { blocks }) };
      return pressed(user, room, shown, label);
    },

    stop(user, { channel, ts }) {
      const room = workspace.rooms.get(channel);
      const status = workspace.sessions.get(`${channel} ${ts}`)?.status;
      const canStop = status === 'processing' && delivery.tells('agent_session_stopped');
      if (room === undefined || !canStop || !room.members.has(user.id))
        throw new Error(`${user.name} sees no stop button in ${channel} ${ts}: the session is ${status}`);
      const streams = room.messages.filter(
        ({ threadTs, streaming }) => threadTs === ts && streaming?.state === 'in_progress',
      );
      for (const stream of streams)
        if (stream.streaming !== undefined) stream.streaming.state = 'stopped_by_user';
      const event = {
        type: 'agent_session_stopped',
        channel,
        user: user.id,
        thread_ts: ts,
        streaming_message_ts: streams.map((stream) => stream.ts),
        event_ts: workspace.nextTs(),
      };
      return delivery.send([{ room, event }]);
    },

    react(user, message, reaction, change = 'added') {
      const [room, stored] = find(message);
      const key = `${room.id} ${stored.ts} ${user.id} ${reaction}`;
      if (reacted.has(key) === (change === 'added')) throw new Error(`${reaction} can't be ${change} again`);
      if (change === 'added') reacted.add(key);
      else reacted.delete(key);
      if (!room.members.has(bot.user)) return Promise.resolve([]);
      const event = reactionEvent(workspace, stored, { user: user.id, reaction, change });
      return delivery.send([{ room, event }]);
    },

    openHome: (user) => delivery.send([homeVisit(workspace, views, user)]),
    openMessages: (user) => delivery.send([homeVisit(workspace, views, user, 'messages')]),
    pressHome: (user, label) => delivery.sendOnce('interactive', homePress(workspace, views, user, label)),

    submit: (user, { id, view }, entered) =>
      delivery.sendOnce('interactive', {
        type: 'view_submission',
        team: { id: workspace.team, domain: 'skillet-test' },
        user: { id: user.id, username: user.name, name: user.name, team_id: user.team },
        api_app_id: bot.appId,
        token: 'legacy-verification-token',
        trigger_id: views.trigger(user.id),
        view: {
          ...view,
          id,
          team_id: workspace.team,
          state: { values: stateOf(view, entered) },
          hash: `${id}.1`,
          root_view_id: id,
          previous_view_id: null,
          app_id: bot.appId,
          bot_id: bot.botId,
        },
        response_urls: [],
        is_enterprise_install: false,
        enterprise: null,
      }),

    addBot(user, room) {
      room.members.add(bot.user);
      const channel_type = room.kind === 'channel' ? 'C' : 'G';
      const what = { user: bot.user, channel: room.id, channel_type, team: workspace.team, inviter: user.id };
      const event = { type: 'member_joined_channel', ...what, event_ts: workspace.nextTs() };
      return delivery.send([{ room, event }]);
    },

    removeBot(room) {
      room.members.delete(bot.user);
      const type = room.kind === 'channel' ? 'channel_left' : 'group_left';
      return delivery.send([{ room, event: { type, channel: room.id, event_ts: workspace.nextTs() } }]);
    },

    edit(message, text) {
      const [room, stored] = find(message);
      const before = { ...stored };
      stored.text = text;
      stored.edited = workspace.nextTs();
      return delivery.send([{ room, event: changeEvent(workspace, room, before, stored) }]);
    },

    remove(message) {
      const [room, stored] = find(message);
      stored.deleted = true;
      return delivery.send([{ room, event: changeEvent(workspace, room, stored, undefined) }]);
    },
  };
}
