import type { ShownPlan, StreamMode } from './stream-chunks.ts';

/** A person or bot of the simulated workspace. */
export type SlackUser = Readonly<{
  id: string;
  /** The legacy handle. */
  name: string;
  /** Empty where the person set none. */
  displayName: string;
  realName: string;
  /** What their client speaks: `de-DE`. */
  locale?: string;
  tz?: string;
  team: string;
  isBot: boolean;
  /** Slack tells the bot that it may not see this person. */
  hidden: boolean;
}>;

export type SlackRoom = {
  readonly id: string;
  readonly kind: 'im' | 'mpim' | 'group' | 'channel';
  readonly name: string;
  readonly members: Set<string>;
  readonly external: boolean;
  archived: boolean;
  readonly messages: StoredMessage[];
};

/** A message as Slack keeps it. */
export type StoredMessage = {
  readonly channel: string;
  readonly ts: string;
  readonly user: string;
  readonly botId?: string;
  text: string;
  blocks?: readonly Readonly<Record<string, unknown>>[];
  readonly threadTs?: string;
  metadata?: Readonly<{ event_type: string; event_payload: Readonly<Record<string, unknown>> }>;
  readonly files?: readonly Readonly<Record<string, unknown>>[];
  /** What it carries beside its text, such as a forwarded message. */
  readonly attachments?: readonly Readonly<Record<string, unknown>>[];
  /** What kind of message it is, where it is none that a person typed. */
  readonly subtype?: string;
  /** The arguments of the call that posted it. */
  readonly sentWith?: Readonly<Record<string, unknown>>;
  /** Names of the bot's reactions. */
  reactions?: readonly string[];
  /** Since chat.startStream. `mode` is how it is fed. */
  streaming?: {
    expiresAt: number;
    state: 'in_progress' | 'completed' | 'errored' | 'stopped_by_user';
    mode?: StreamMode | undefined;
  };
  /** The plan that people see in it, from chunks of its stream or from its blocks. */
  plan?: ShownPlan | undefined;
  /** When. */
  edited: string | undefined;
  deleted: boolean;
};

/** An agent's work in a thread, as people see it. Its title stays what it was at first. */
export type AgentSession = Readonly<{
  status: 'active' | 'processing' | 'suspended' | 'closed';
  title: string | undefined;
}>;

/** The workspace's state: people, rooms, messages, ids. */
export type Workspace = Readonly<{
  team: string;
  bot: Readonly<{ user: string; botId: string; appId: string; name: string }>;
  users: Map<string, SlackUser>;
  rooms: Map<string, SlackRoom>;
  /** Ids of the people of each user group. */
  userGroups: Map<string, Set<string>>;
  /** Sessions of the bot by `CHANNEL THREAD`. */
  sessions: Map<string, AgentSession>;
  /** Display name and real name are the name, unless given. */
  addUser(
    name: string,
    options?: Partial<Omit<SlackUser, 'id' | 'name'>> & { enterprise?: boolean },
  ): SlackUser;
  addRoom(
    kind: SlackRoom['kind'],
    options?: Readonly<{ name?: string; members?: readonly string[]; bot?: boolean; external?: boolean }>,
  ): SlackRoom;
  /** The direct message with the bot, opened when first needed. */
  dmWith(user: string): SlackRoom;
  message(channel: string, ts: string): StoredMessage | undefined;
  /** A new `ts`, so many seconds after the last one: unique, growing, never exact as a float. */
  nextTs(seconds?: number): string;
  nextId(prefix: string): string;
}>;

export function createWorkspace(team: string): Workspace {
  const state = { ids: 0, ts: 0 };
  const base = Math.floor(Date.now() / 1000);
  const users = new Map<string, SlackUser>();
  const rooms = new Map<string, SlackRoom>();
  const userGroups = new Map<string, Set<string>>();
  const sessions = new Map<string, AgentSession>();
  const nextId = (prefix: string): string =>
    `${prefix}${(++state.ids).toString(36).toUpperCase().padStart(8, '0')}`;
  const bot = { user: nextId('U'), botId: nextId('B'), appId: nextId('A'), name: 'skillet' };
  users.set(bot.user, {
    id: bot.user,
    name: bot.name,
    displayName: '',
    realName: bot.name,
    team,
    isBot: true,
    hidden: false,
  });

  const addRoom: Workspace['addRoom'] = (kind, options = {}) => {
    const id = nextId(kind === 'im' ? 'D' : kind === 'mpim' ? 'G' : 'C');
    const room: SlackRoom = {
      id,
      kind,
      name: options.name ?? (kind === 'im' ? '' : id.toLowerCase()),
      members: new Set([...(options.members ?? []), ...(options.bot === false ? [] : [bot.user])]),
      external: options.external ?? false,
      archived: false,
      messages: [],
    };
    rooms.set(id, room);
    return room;
  };

  return {
    team,
    bot,
    users,
    rooms,
    userGroups,
    sessions,
    addUser(name, options = {}) {
      const id = nextId(options.enterprise ? 'W' : 'U');
      const { displayName = name, realName = name, hidden = false, isBot = false, locale, tz } = options;
      const known = { id, name, displayName, realName, team: options.team ?? team, isBot, hidden };
      const user = {
        ...known,
        ...(locale === undefined ? {} : { locale }),
        ...(tz === undefined ? {} : { tz }),
      };
      users.set(id, user);
      return user;
    },
    addRoom,
    dmWith(user) {
      const open = [...rooms.values()].find(
        ({ kind, members }) => kind === 'im' && members.has(user) && members.has(bot.user),
      );
      return open ?? addRoom('im', { members: [user] });
    },
    message: (channel, ts) =>
      rooms.get(channel)?.messages.find((message) => message.ts === ts && !message.deleted),
    nextTs(seconds = 0) {
      state.ts += 1 + seconds * 900_000;
      return `${base + Math.floor(state.ts / 900_000)}.${String(state.ts % 900_000).padStart(6, '0')}`;
    },
    nextId,
  };
}
