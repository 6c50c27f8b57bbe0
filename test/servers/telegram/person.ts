import type { InlineKeyboardButton, Message, ReactionTypeEmoji, User } from 'grammy/types';
import { deliver } from './deliver-message.ts';
import type { Entity } from './entity.ts';
import { withEntities } from './format-text.ts';
import type { Chat } from './room.ts';
import type { DownloadTrouble } from './serve-file.ts';
import { chatOf, type Room, type Stored, type World } from './world.ts';
import { whisperToBot } from './methods-ephemeral.ts';

/** Where and how something is said. */
export type Saying = Readonly<{
  /** A group or channel; the person's own chat with the bot by default. */
  in?: Chat;
  topic?: number;
  /** At once after this person's last message there; else it is two seconds later at least. */
  quick?: boolean;
  /** Id of the message that is answered. */
  replyTo?: number;
  /** As an anonymous administrator of the group, or in the name of a channel. */
  as?: 'group' | Chat;
  forwardedFrom?: User;
  /** Entities that the platform would not find by itself, such as text_mention. */
  entities?: readonly Entity[];
}>;

export type SentFile = Readonly<{
  kind: 'photo' | 'document' | 'voice';
  name?: string;
  mime?: string;
  /** Bytes. */
  size?: number;
  /** What a download gives; zeros of that size by default. */
  bytes?: Buffer;
  /** What goes wrong when it is downloaded. */
  trouble?: DownloadTrouble | (() => DownloadTrouble | undefined);
  caption?: string;
}>;

/** Somebody who uses the bot. What they do reaches the bot as updates; ids are of messages. */
export type Person = Readonly<{
  id: number;
  user: User;
  dm: Chat;
  /** At most 4,096 UTF-16 units. */
  says(text: string, how?: Saying): number;
  /** A text of any length: the client cuts it into full messages. */
  saysLong(text: string, how?: Saying): readonly number[];
  sends(file: SentFile, how?: Saying): number;
  /** Photos as one album, the caption on the first. */
  sendsAlbum(
    photos: number | readonly Buffer[],
    /** Of the first photo, or of each; empty for none. */
    caption: string | readonly string[] | undefined,
    how?: Saying,
  ): readonly number[];
  edits(id: number, text: string, where?: Chat): void;
  /**
   * Says something in a group that the bot alone hears: a command that the menus call ephemeral, or the reply to an
   * ephemeral message of the bot. Gives its ephemeral id.
   */
  whispers(text: string, how: Readonly<{ in: Chat; topic?: number; replyTo?: number }>): number;
  /** Presses a button below an ephemeral message of the bot. */
  pressesAlone(
    id: number,
    button: string,
    where: Chat,
  ): Readonly<{ answered(): boolean; text(): string | undefined }>;
  /** The person is no longer in this group. */
  leaves(where: Chat): void;
  /** The person's clients are off from now on. */
  goesOffline(): void;
  /** Presses the button with this label or action. The result tells whether and how the bot answered. */
  presses(
    id: number,
    button: string,
    where?: Chat,
  ): Readonly<{ answered(): boolean; text(): string | undefined }>;
  /** Presses the stop button of the draft that is shown in the private chat. */
  stops(): void;
  /**
   * Sets this person's reactions to a message; none takes them away. Gives whether the bot is told: it has to ask for such
   * updates, and to be an administrator of a group. `as`: anonymously.
   */
  reacts(id: number, emoji: readonly string[], where?: Chat, as?: 'group'): boolean;
  blocks(): void;
  unblocks(): void;
}>;

const anonymous: User = { id: 1087968824, is_bot: true, first_name: 'Group', username: 'GroupAnonymousBot' };
const channelBot: User = { id: 136817688, is_bot: true, first_name: 'Channel', username: 'Channel_Bot' };

/** A draft disappears after this time. */
const draftMs = 30_000;

/** `home` is the person's private chat with the bot. */
export function createPerson(world: World, user: User, home: Room, dm: Chat): Person {
  const roomOf = (chat: Chat | undefined): Room => {
    const room = world.rooms.get(chat?.id ?? home.id);
    if (room === undefined) throw new Error(`no chat ${chat?.id}`);
    return room;
  };

  const saidAt = new Map<number, number>();
  const reacted = new Map<string, readonly string[]>();

  function send(content: Partial<Message>, how: Saying): number {
    const room = roomOf(how.in);
    if (room.standing === 'stranger') room.standing = 'member';
    const message = {
      message_id: world.nextMessageId(room),
      ...authorOf(room, how),
      chat: chatOf(room),
      date: dateOf(room, how),
      ...placeOf(room, how),
      ...originOf(how, world),
      ...content,
    };
    world.keep(room, message, false);
    deliver(world, room, 'message', message);
    return message.message_id;
  }

  /** Nobody writes two messages within a second, unless they are fragments of one or a client cut them. */
  function dateOf({ id }: Room, { quick }: Saying): number {
    const last = saidAt.get(id);
    const date = last === undefined ? world.date() : Math.max(world.date(), last + (quick === true ? 0 : 2));
    saidAt.set(id, date);
    return date;
  }

  function authorOf(room: Room, { as }: Saying): object {
    if (as === undefined) return { from: user };
    return as === 'group'
      ? { from: anonymous, sender_chat: chatOf(room) }
      : { from: channelBot, sender_chat: chatOf(roomOf(as)) };
  }

  function press(room: Room, stored: Stored | undefined, label: string, onWhisper: boolean) {
    const buttons: readonly InlineKeyboardButton[] =
      stored?.message.reply_markup?.inline_keyboard.flat() ?? [];
    const button = buttons.find((one) => one.text === label || actionOf(one) === label);
    const data = button && actionOf(button);
    if (stored === undefined || data === undefined) {
      throw new Error(`the message has no button ${label}; it has ${buttons.map((b) => b.text).join(', ')}`);
    }
    const pressed = {
      id: String(world.nextUserId() * 4096),
      answered: false,
      text: undefined,
      at: world.clock.now(),
      by: user.id,
      room: room.id,
      onWhisper,
    };
    world.presses.set(pressed.id, pressed);
    const query = { id: pressed.id, from: user, message: stored.message, chat_instance: `-${room.id}`, data };
    world.queue.add('callback_query', query, room.id);
    return { answered: () => pressed.answered, text: () => pressed.text };
  }

  return {
    id: user.id,
    user,
    dm,
    says(text, how = {}) {
      if (text.length > 4096) throw new Error('longer than a message; use saysLong');
      const { entities } = withEntities(text, how.entities);
      return send(
        { text, ...(entities.length === 0 ? {} : { entities: [...entities] as Message['entities'] }) },
        how,
      );
    },
    saysLong(text, how = {}) {
      const pieces = text.match(/[^]{1,4096}/g) ?? [];
      return pieces.map((piece, index) => this.says(piece, { ...how, quick: index > 0 }));
    },
    sends(file, how = {}) {
      return send(contentOf(file), how);
    },
    sendsAlbum(photos, caption, how = {}) {
      const album = { media_group_id: String(world.nextUserId()) };
      const each = typeof photos === 'number' ? Array.from({ length: photos }, () => undefined) : photos;
      return each.map((bytes, index) => {
        const own = typeof caption === 'object' ? caption[index] : index === 0 ? caption : undefined;
        const words = own === undefined || own === '' ? {} : { caption: own };
        const content = contentOf({ kind: 'photo', ...words, ...(bytes === undefined ? {} : { bytes }) });
        return send({ ...content, ...album }, how);
      });
    },
    edits(id, text, where) {
      const room = roomOf(where);
      const stored = room.messages.get(id);
      if (stored === undefined) throw new Error(`no message ${id}`);
      const { entities } = withEntities(text);
      const { entities: _, ...before } = stored.message;
      const found = entities.length === 0 ? {} : { entities };
      stored.message = { ...before, text, ...found, edit_date: world.date() } as Message;
      stored.texts.push(text);
      deliver(world, room, 'edited_message', stored.message);
    },
    whispers: (text, how) => whisperToBot(world, user, roomOf(how.in), text, how),
    pressesAlone: (id, label, where) => {
      const room = roomOf(where);
      const stored = room.whispers.get(id);
      if (stored?.person !== user.id) throw new Error(`${user.first_name} does not see message ${id}`);
      return press(room, stored, label, true);
    },
    leaves: (where) => void roomOf(where).left.add(user.id),
    goesOffline: () => void world.offline.add(user.id),
    presses(id, label, where) {
      const room = roomOf(where);
      return press(room, room.messages.get(id), label, false);
    },
    stops() {
      const draft = home.drafts.at(-1);
      const sent = [...home.messages.values()].filter(({ byBot }) => byBot).at(-1)?.message.date ?? 0;
      const isShown =
        draft !== undefined && world.clock.now() - draft.at < draftMs && sent * 1000 <= draft.at;
      if (!isShown || draft.canStop !== true)
        throw new Error(`no draft with a stop button is shown: ${JSON.stringify(draft)}`);
      const { id: draft_id, thread } = draft;
      const place = thread === undefined ? {} : { message_thread_id: thread };
      world.queue.add('stopped_message_generation', { chat: chatOf(home), ...place, draft_id }, home.id);
    },
    reacts(id, emoji, where, as) {
      const room = roomOf(where);
      if (room.messages.get(id)?.deleted !== false) throw new Error(`no message ${id} to react to`);
      // Three with a subscription, one without.
      if (emoji.length > 3) throw new Error('a person has at most three reactions');
      const key = `${room.id} ${id}`;
      const toTypes = (all: readonly string[]): readonly ReactionTypeEmoji[] =>
        all.map((one) => ({ type: 'emoji', emoji: one as ReactionTypeEmoji['emoji'] }));
      const before = toTypes(reacted.get(key) ?? []);
      reacted.set(key, emoji);
      if (room.type !== 'private' && room.standing !== 'administrator') return false;
      const by = as === undefined ? { user } : { actor_chat: chatOf(room) };
      const change = { chat: chatOf(room), message_id: id, ...by, date: world.date() };
      const told = { ...change, old_reaction: before, new_reaction: toTypes(emoji) };
      return world.queue.add('message_reaction', told, room.id) !== undefined;
    },
    blocks: () => dm.setBot('blocked'),
    unblocks: () => dm.setBot('member'),
  };

  function contentOf(sent: SentFile): Partial<Message> {
    const { kind, name, mime, caption, bytes, trouble } = sent;
    const id = `file${world.nextUserId()}`;
    const size = sent.size ?? bytes?.length ?? 1234;
    const file = { file_id: id, file_unique_id: `u${id}`, file_size: size };
    world.files.set(id, {
      bytes: bytes ?? Buffer.alloc(Math.min(size, 1_000_000)),
      size,
      trouble: typeof trouble === 'function' ? trouble : () => trouble,
    });
    const words = caption === undefined ? undefined : withEntities(caption);
    const found =
      words === undefined || words.entities.length === 0 ? {} : { caption_entities: words.entities };
    const written = { ...(caption === undefined ? {} : { caption }), ...found } as Partial<Message>;
    if (kind === 'photo') return { ...written, photo: [{ ...file, width: 90, height: 90 }] };
    const mimeType = mime === undefined ? {} : { mime_type: mime };
    if (kind === 'voice') return { ...written, voice: { ...file, ...mimeType, duration: 3 } };
    return {
      ...written,
      document: { ...file, ...mimeType, ...(name === undefined ? {} : { file_name: name }) },
    };
  }
}

function actionOf(button: InlineKeyboardButton): string | undefined {
  return 'callback_data' in button ? button.callback_data : undefined;
}

/** In a topic whatever answers nothing "answers" the topic's beginning; elsewhere a reply opens a thread that is no topic. */
function placeOf(room: Room, { topic, replyTo }: Saying): object {
  const target = replyTo === undefined ? undefined : room.messages.get(replyTo)?.message;
  if (replyTo !== undefined && target === undefined) throw new Error(`no message ${replyTo} to reply to`);
  const reply = target === undefined ? {} : { reply_to_message: { ...target, reply_to_message: undefined } };
  if (topic !== undefined) {
    const start = room.messages.get(topic)?.message;
    return { message_thread_id: topic, is_topic_message: true, reply_to_message: start, ...reply };
  }
  if (target === undefined || room.type !== 'supergroup' || room.isForum) return reply;
  return { message_thread_id: target.message_thread_id ?? target.message_id, ...reply };
}

function originOf({ forwardedFrom }: Saying, world: World): object {
  if (forwardedFrom === undefined) return {};
  return { forward_origin: { type: 'user', date: world.date(), sender_user: forwardedFrom } };
}
