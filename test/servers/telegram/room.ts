import type { Message, User } from 'grammy/types';
import { deliver } from './deliver-message.ts';
import { chatOf, type BotStanding, type Draft, type Room, type Stored, type World } from './world.ts';

/** What the bot sent, as it looks now. */
export type SentMessage = Readonly<{
  id: number;
  text: string;
  entities: readonly Readonly<{
    type: string;
    offset: number;
    length: number;
    url?: string;
    language?: string;
  }>[];
  /** Labels of its buttons. */
  buttons: readonly string[];
  thread?: number;
  /** Id of the message it answers. */
  replyTo?: number;
  /** Every text it ever had; the last is `text`. */
  texts: readonly string[];
  parseMode?: string;
  deleted: boolean;
  /** It rang nobody's telephone. */
  silent: boolean;
  /** What was uploaded; `text` is its caption then. */
  file?: Readonly<{ kind: 'document' | 'photo'; name: string; bytes: Buffer }>;
}>;

/** A chat, seen by a test. */
export type Chat = Readonly<{
  id: number;
  type: Room['type'];
  /** What the bot sent here and did not delete, oldest first. */
  sent(): readonly SentMessage[];
  /** The same with what was deleted. */
  everSent(): readonly SentMessage[];
  /**
   * The first message of the bot that was not given out by this call before, matches, and is not deleted: waits for it.
   * Where nothing is given to match, lines that show work are passed over: whether they come lies in how long it takes.
   */
  nextMessage(match?: string | RegExp): Promise<SentMessage>;
  /** The same for messages with a file, by its name. */
  nextFile(name?: string): Promise<SentMessage & Readonly<{ file: NonNullable<SentMessage['file']> }>>;
  /** What the bot sent here to this person alone, as far as it was shown, oldest first. Its `id`s are ephemeral ones. */
  shownTo(person: Readonly<{ id: number }>): readonly SentMessage[];
  /** The first of these that matches and was not given out by this call before: waits for it. */
  nextShownTo(person: Readonly<{ id: number }>, match?: string | RegExp): Promise<SentMessage>;
  /** Chat actions (typing) so far. */
  actions(): readonly Readonly<{ action: string; thread: number | undefined; at: number }>[];
  /** Previews of answers so far, in a private chat. */
  drafts(): readonly Draft[];
  /** Emoji that the bot put on a message. */
  reactions(id: number): readonly string[];
  /** Makes a topic in a forum and gives its id; made by `by`, or by the bot. */
  topic(name: string, by?: User): number;
  closeTopic(id: number): void;
  deleteTopic(id: number): void;
  /** The platform makes a supergroup of this group: two service messages; the old id answers 400 from then on. */
  migrate(): Chat;
  /** A post of the channel itself. Gives its id. */
  posts(text: string): number;
  /** What the bot may do here from now on; told to the bot by `my_chat_member`. `by`: who did it. */
  setBot(standing: BotStanding, by?: Readonly<{ id: number; first_name: string }>): void;
}>;

/** Lets tests see and change one room. */
export function createChat(
  world: World,
  room: Room,
  tools: Readonly<{
    until<T>(what: string, check: () => T | undefined): Promise<T>;
    addRoom(room: Pick<Room, 'type' | 'title'> & Partial<Room>): Room;
    chat(room: Room): Chat;
  }>,
): Chat {
  const givenOut = new Set<number>();
  const whispered = new Set<number>();
  const ofBot = (): readonly Stored[] => [...room.messages.values()].filter(({ byBot }) => byBot);

  function shownTo({ id }: Readonly<{ id: number }>): readonly SentMessage[] {
    return [...room.whispers.values()]
      .filter(({ byBot, person, seen, deleted }) => byBot && person === id && seen && !deleted)
      .map(toSent);
  }

  function service(content: object, from: User | undefined, thread?: number): Message {
    const message = {
      message_id: world.nextMessageId(room),
      ...(from === undefined ? {} : { from }),
      chat: chatOf(room),
      date: world.date(),
      ...(thread === undefined ? {} : { message_thread_id: thread, is_topic_message: true }),
      ...content,
    } as Message;
    world.keep(room, message, from?.id === world.me.id);
    return message;
  }

  return {
    id: room.id,
    type: room.type,
    sent: () =>
      ofBot()
        .filter(({ deleted }) => !deleted)
        .map(toSent),
    everSent: () => ofBot().map(toSent),
    nextMessage(match) {
      // Lines are the only thing that the bot writes without formatting.
      const matches = ({ message: { text = '' }, parseMode }: Stored): boolean =>
        match === undefined
          ? parseMode !== undefined
          : typeof match === 'string'
            ? text.includes(match)
            : match.test(text);
      return tools.until(`a message in ${room.id} that matches ${String(match)}`, () => {
        const found = ofBot().find(
          (stored) =>
            !stored.deleted &&
            stored.message.text !== undefined &&
            !givenOut.has(stored.message.message_id) &&
            matches(stored),
        );
        if (found !== undefined) givenOut.add(found.message.message_id);
        return found && toSent(found);
      });
    },
    nextFile(name) {
      return tools.until(`a file ${name ?? ''} in ${room.id}`, () => {
        for (const stored of ofBot()) {
          const sent = toSent(stored);
          if (sent.file === undefined || sent.deleted || givenOut.has(sent.id)) continue;
          if (name !== undefined && sent.file.name !== name) continue;
          givenOut.add(sent.id);
          return { ...sent, file: sent.file };
        }
        return undefined;
      });
    },
    shownTo,
    nextShownTo(person, match = '') {
      return tools.until(
        `a message in ${room.id} to ${person.id} alone that matches ${String(match)}`,
        () => {
          const found = shownTo(person).find(
            ({ id, text }) =>
              !whispered.has(id) && (typeof match === 'string' ? text.includes(match) : match.test(text)),
          );
          if (found !== undefined) whispered.add(found.id);
          return found;
        },
      );
    },
    actions: () => room.actions,
    drafts: () => room.drafts,
    reactions: (id) => room.reactions.get(id) ?? [],
    topic(name, by = world.me) {
      room.isForum = true;
      const id = world.nextMessageId(room);
      room.topics.set(id, { name, closed: false, createdBy: by });
      const message = {
        message_id: id,
        from: by,
        chat: chatOf(room),
        date: world.date(),
        message_thread_id: id,
        is_topic_message: true,
        forum_topic_created: { name, icon_color: 7322096 },
      } as Message;
      world.keep(room, message, by.id === world.me.id);
      if (by.id !== world.me.id) deliver(world, room, 'message', message);
      return id;
    },
    closeTopic(id) {
      const topic = room.topics.get(id);
      if (topic === undefined) throw new Error(`no topic ${id}`);
      topic.closed = true;
    },
    deleteTopic(id) {
      if (!room.topics.delete(id)) throw new Error(`no topic ${id}`);
    },
    migrate() {
      const next = tools.addRoom({ type: 'supergroup', title: room.title, standing: room.standing });
      room.movedTo = next.id;
      const bot: User = { id: 1087968824, is_bot: true, first_name: 'Group', username: 'GroupAnonymousBot' };
      deliver(world, room, 'message', service({ migrate_to_chat_id: next.id }, bot));
      const arrived = {
        message_id: world.nextMessageId(next),
        from: bot,
        sender_chat: chatOf(next),
        chat: chatOf(next),
        date: world.date(),
        migrate_from_chat_id: room.id,
      } as Message;
      world.keep(next, arrived, false);
      deliver(world, next, 'message', arrived);
      return tools.chat(next);
    },
    posts(text) {
      const post = service({ sender_chat: chatOf(room), text }, undefined);
      deliver(world, room, 'channel_post', post);
      return post.message_id;
    },
    setBot(standing, by) {
      const before = memberOf(world, room.standing);
      room.standing = standing;
      const doer = by && { ...by, is_bot: false };
      const from = doer ?? room.person ?? { id: 1087968824, is_bot: true, first_name: 'Group' };
      const now = memberOf(world, standing);
      const change = {
        chat: chatOf(room),
        from,
        date: world.date(),
        old_chat_member: before,
        new_chat_member: now,
      };
      world.queue.add('my_chat_member', change, room.id);
    },
  };
}

function memberOf({ me }: World, standing: BotStanding): object {
  const user = { id: me.id, is_bot: true, first_name: me.first_name, username: me.username };
  if (standing === 'kicked' || standing === 'blocked') return { status: 'kicked', user, until_date: 0 };
  return { status: standing === 'member' || standing === 'administrator' ? standing : 'left', user };
}

function toSent({ message, texts, parseMode, deleted, silent, file }: Stored): SentMessage {
  const rows = message.reply_markup?.inline_keyboard ?? [];
  const { message_thread_id: thread, reply_to_message: reply } = message;
  return {
    id: message.ephemeral_message_id ?? message.message_id,
    text: message.text ?? message.caption ?? '',
    entities: message.entities ?? message.caption_entities ?? [],
    buttons: rows.flat().map(({ text }) => text),
    ...(thread === undefined ? {} : { thread }),
    ...(reply === undefined ? {} : { replyTo: reply.message_id }),
    texts: [...texts],
    ...(parseMode === undefined ? {} : { parseMode }),
    deleted,
    silent: silent === true,
    ...(file === undefined
      ? {}
      : { file: { kind: message.photo === undefined ? 'document' : 'photo', ...file } as const }),
  };
}
