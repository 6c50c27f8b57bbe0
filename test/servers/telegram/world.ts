import type { Chat, Message, User, UserFromGetMe } from 'grammy/types';
import type { Clock } from '../../../src/lib/clock.ts';
import type { HeldFile } from './serve-file.ts';
import type { UpdateQueue } from './update-queue.ts';

/** Whether the bot can write in a chat. `stranger`: the person never wrote to it. */
export type BotStanding =
  'member' | 'administrator' | 'stranger' | 'blocked' | 'kicked' | 'absent' | 'deactivated' | 'muted';

/** A message as the server keeps it. `message` is what the API shows of it now. */
export type Stored = {
  message: Message;
  byBot: boolean;
  deleted: boolean;
  /** Every text it had, oldest first. */
  texts: string[];
  /** `parse_mode` of the last call. */
  parseMode: string | undefined;
  /** It rang nobody's telephone. */
  silent?: true;
  /** The bytes of what was uploaded with it. */
  file?: Readonly<{ name: string; bytes: Buffer }>;
};

export type Room = {
  readonly id: number;
  readonly type: 'private' | 'group' | 'supergroup' | 'channel';
  title: string | undefined;
  /** The other side of a private chat. */
  readonly person: User | undefined;
  isForum: boolean;
  readonly topics: Map<number, { name: string; closed: boolean; createdBy: User }>;
  standing: BotStanding;
  movedTo: number | undefined;
  readonly messages: Map<number, Stored>;
  /** No other bot wrote after this one: then `/cmd` without a name reaches it in privacy mode. */
  botSpokeLast: boolean;
  readonly actions: { action: string; thread: number | undefined; at: number }[];
  readonly reactions: Map<number, readonly string[]>;
  /** Previews of answers, in private chats, as they came. */
  readonly drafts: Draft[];
  /** Ephemeral messages by their ids, of the bot and to it. */
  readonly whispers: Map<number, Whisper>;
  /** People who left the group; all others count as its members. */
  readonly left: Set<number>;
};

/** A message that one person of a group and the bot alone see. */
export type Whisper = Stored & {
  readonly person: number;
  readonly at: number;
  /** False if the person was offline: then the platform says yes and shows it to nobody. */
  readonly seen: boolean;
};

/** A preview of an answer. `canStop`: it has a stop button; `keepOnStop`: a press leaves it where it is for a moment. */
export type Draft = Readonly<{
  id: number;
  text: string;
  thread: number | undefined;
  at: number;
  canStop?: true;
  keepOnStop?: true;
}>;

export type Press = {
  id: string;
  answered: boolean;
  text: string | undefined;
  at: number;
  readonly by: number;
  readonly room: number;
  /** The button belongs to an ephemeral message. */
  readonly onWhisper: boolean;
};

/** Everything the server knows. Plain state: the rules are in the methods and in what people do. */
export type World = Readonly<{
  me: UserFromGetMe;
  clock: Clock;
  queue: UpdateQueue;
  rooms: Map<number, Room>;
  presses: Map<string, Press>;
  /** What people sent, by file id. */
  files: Map<string, HeldFile>;
  commands: Map<string, readonly unknown[]>;
  /** Ids of people whose clients are off. */
  offline: Set<number>;
  /** Seconds since 1970. */
  date(): number;
  nextMessageId(room: Room): number;
  nextUserId(): number;
  nextGroupId(type: Room['type']): number;
  /** Keeps a message and gives it back as stored. */
  keep(room: Room, message: Message, byBot: boolean, as?: Pick<Stored, 'parseMode' | 'silent'>): Stored;
  /** Something happened that somebody may wait for. */
  changed(): void;
}>;

export function createWorld(options: {
  me: UserFromGetMe;
  clock: Clock;
  queue: UpdateQueue;
  changed: () => void;
}): World {
  // Private chats and small groups share one count, as with the platform; large groups and channels have their own.
  const counters = { message: 100, user: 4_000_000, group: 0, own: new Map<number, number>() };
  return {
    ...options,
    rooms: new Map(),
    presses: new Map(),
    files: new Map(),
    commands: new Map(),
    offline: new Set(),
    date: () => Math.floor(options.clock.now() / 1000),
    nextMessageId({ id, type }) {
      if (type === 'private' || type === 'group') return ++counters.message;
      const next = (counters.own.get(id) ?? 0) + 1;
      counters.own.set(id, next);
      return next;
    },
    nextUserId: () => ++counters.user,
    nextGroupId(type) {
      counters.group += 1;
      return type === 'group' ? -(5_000_000 + counters.group) : -(1_002_000_000_000 + counters.group);
    },
    keep(room, message, byBot, as) {
      const stored: Stored = { message, byBot, deleted: false, texts: [], parseMode: undefined, ...as };
      if (message.text !== undefined) stored.texts.push(message.text);
      room.messages.set(message.message_id, stored);
      if (byBot || message.from?.is_bot === true) room.botSpokeLast = byBot;
      options.changed();
      return stored;
    },
    changed: options.changed,
  };
}

/** A room as the API shows it. */
export function chatOf(room: Room): Chat {
  const { id, type, title, person, isForum } = room;
  if (person !== undefined) {
    const { first_name, last_name, username } = person;
    const names = {
      ...(last_name === undefined ? {} : { last_name }),
      ...(username === undefined ? {} : { username }),
    };
    return { id, type: 'private', first_name, ...names };
  }
  return {
    id,
    type,
    title,
    ...(type === 'group' ? { all_members_are_administrators: false } : {}),
    ...(isForum ? { is_forum: true } : {}),
  } as Chat;
}
