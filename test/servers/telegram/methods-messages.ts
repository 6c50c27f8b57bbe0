import type { InlineKeyboardMarkup, Message } from 'grammy/types';
import { badRequest, forbidden } from './bot-api-error.ts';
import { flag, integer, list, string } from './check-arguments.ts';
import { checkKeyboard } from './check-keyboard.ts';
import { whisper } from './methods-ephemeral.ts';
import { formatText } from './format-text.ts';
import type { Arguments } from './read-call.ts';
import { chatOf, type Room, type Stored, type World } from './world.ts';

type Method = (args: Arguments) => unknown;

const kinds = {
  private: 'user',
  group: 'group chat',
  supergroup: 'supergroup chat',
  channel: 'channel chat',
};
const actions = [
  'typing',
  'upload_photo',
  'record_video',
  'upload_video',
  'record_voice',
  'upload_voice',
  'upload_document',
  'choose_sticker',
  'find_location',
  'record_video_note',
  'upload_video_note',
];
const deletableMs = 48 * 60 * 60 * 1000;

/** Puts a message of the bot into a chat, with what every kind of message may have: thread, reply, keyboard. */
export function post(world: World, args: Arguments, count: (chat: number) => void, content: object): Stored {
  if (args['ephemeral_message_parameters'] !== undefined) return whisper(world, args, count, content);
  const keyboard = checkKeyboard(args['reply_markup']);
  const room = writableRoom(world, args);
  const thread = threadOf(room, integer(args, 'message_thread_id'));
  const reply = repliedTo(room, args['reply_parameters']);
  count(room.id);
  const message = {
    message_id: world.nextMessageId(room),
    from: publicMe(world),
    chat: chatOf(room),
    date: world.date(),
    ...(thread === undefined ? {} : { message_thread_id: thread, is_topic_message: true }),
    ...(reply === undefined ? {} : { reply_to_message: reply }),
    ...content,
    ...(keyboard === undefined ? {} : { reply_markup: keyboard }),
  } as Message;
  return world.keep(room, message, true, {
    parseMode: string(args, 'parse_mode') || undefined,
    ...(flag(args, 'disable_notification') ? { silent: true } : {}),
  });
}

/** Methods that write into chats. `count` is asked before anything is written and refuses a flood. */
export function messageMethods(
  world: World,
  count: (chat: number) => void,
  /** Drafts have limits of their own. */
  countDraft: (chat: number) => void,
): Readonly<Record<string, Method>> {
  return {
    sendmessage(args) {
      const text = formatText(string(args, 'text'), string(args, 'parse_mode'));
      return post(world, args, count, {
        text: text.text,
        ...(text.entities.length === 0 ? {} : { entities: text.entities }),
        ...previewOf(args),
      }).message;
    },
    editmessagetext(args) {
      const text = formatText(string(args, 'text'), string(args, 'parse_mode'));
      const keyboard = checkKeyboard(args['reply_markup']);
      const room = writableRoom(world, args);
      const stored = ownMessage(room, args, 'edit');
      count(room.id);
      const { entities: _, reply_markup: __, link_preview_options: ___, ...before } = stored.message;
      return change(world, stored, {
        ...before,
        text: text.text,
        ...(text.entities.length === 0 ? {} : { entities: text.entities }),
        ...previewOf(args),
        ...(keyboard === undefined ? {} : { reply_markup: keyboard }),
      } as Message);
    },
    editmessagereplymarkup(args) {
      const keyboard = checkKeyboard(args['reply_markup']);
      const room = writableRoom(world, args);
      const stored = ownMessage(room, args, 'edit');
      count(room.id);
      const { reply_markup: _, ...before } = stored.message;
      return change(world, stored, {
        ...before,
        ...(keyboard === undefined ? {} : { reply_markup: keyboard }),
      });
    },
    deletemessage(args) {
      const room = writableRoom(world, args);
      const stored = ownMessage(room, args, 'delete');
      if (world.clock.now() - stored.message.date * 1000 > deletableMs) {
        throw badRequest("message can't be deleted");
      }
      stored.deleted = true;
      world.changed();
      return true;
    },
    sendmessagedraft(args) {
      const text = formatText(string(args, 'text'), string(args, 'parse_mode'));
      const room = writableRoom(world, args);
      if (room.type !== 'private') throw badRequest('TEXTDRAFT_PEER_INVALID');
      const id = integer(args, 'draft_id') ?? 0;
      if (id === 0) throw badRequest('draft identifier must be non-zero');
      countDraft(room.id);
      const thread = threadOf(room, integer(args, 'message_thread_id'));
      room.drafts.push({
        id,
        text: text.text,
        thread,
        at: world.clock.now(),
        ...(flag(args, 'can_stop') ? { canStop: true } : {}),
        ...(flag(args, 'keep_on_stop') ? { keepOnStop: true } : {}),
      });
      world.changed();
      return true;
    },
    sendchataction(args) {
      const action = string(args, 'action');
      if (!actions.includes(action)) throw badRequest('wrong parameter action in request');
      const room = writableRoom(world, args);
      if (room.type === 'channel') throw badRequest("chat actions can't be sent to channels");
      const thread = threadOf(room, integer(args, 'message_thread_id'));
      room.actions.push({ action, thread, at: world.clock.now() });
      world.changed();
      return true;
    },
    setmessagereaction(args) {
      const room = writableRoom(world, args);
      const id = integer(args, 'message_id') ?? 0;
      if (!room.messages.has(id)) throw badRequest('message to react not found');
      const emoji = (list(args, 'reaction') ?? []).map((one) => string(one as Arguments, 'emoji'));
      if (emoji.some((one) => !['👀', '👍', '❤', '🔥', '🎉', '🤔'].includes(one))) {
        throw badRequest('REACTION_INVALID');
      }
      room.reactions.set(id, emoji);
      world.changed();
      return true;
    },
    getchatmember(args) {
      const room = readableRoom(world, args);
      const id = integer(args, 'user_id') ?? 0;
      const user = [...world.rooms.values()].find((one) => one.id === id)?.person;
      if (room.type === 'private' || user === undefined) throw badRequest('user not found');
      return { status: room.left.has(id) ? 'left' : 'member', user };
    },
    getchat(args) {
      const room = readableRoom(world, args);
      return { ...chatOf(room), accent_color_id: 0, max_reaction_count: 11, accepted_gift_types: noGifts };
    },
  };
}

const noGifts = {
  unlimited_gifts: false,
  limited_gifts: false,
  unique_gifts: false,
  premium_subscription: false,
  gifts_from_channels: false,
};

export function publicMe({ me }: World): Message['from'] {
  return { id: me.id, is_bot: true, first_name: me.first_name, username: me.username };
}

function readableRoom(world: World, args: Arguments): Room {
  if (args['chat_id'] === undefined || args['chat_id'] === '') throw badRequest('chat_id is empty');
  const room = world.rooms.get(Number(args['chat_id']));
  if (room === undefined) throw badRequest('chat not found');
  return room;
}

/** The chat, where the bot may write in it. */
export function writableRoom(world: World, args: Arguments): Room {
  const room = readableRoom(world, args);
  if (room.movedTo !== undefined) {
    const parameters = { migrate_to_chat_id: room.movedTo };
    throw badRequest('group chat was upgraded to a supergroup chat', parameters);
  }
  switch (room.standing) {
    case 'blocked':
      throw forbidden('bot was blocked by the user');
    case 'deactivated':
      throw forbidden('user is deactivated');
    case 'stranger':
      throw forbidden("bot can't initiate conversation with a user");
    case 'kicked':
      throw forbidden(`bot was kicked from the ${kinds[room.type]}`);
    case 'absent':
      throw forbidden(`bot is not a member of the ${kinds[room.type]}`);
    case 'muted':
      throw badRequest('not enough rights to send text messages to the chat');
    case 'member':
    case 'administrator':
      return room;
  }
}

/** The General topic has no id that could be sent to. */
export function threadOf(room: Room, thread: number | undefined): number | undefined {
  if (thread === undefined || thread === 0) return undefined;
  const topic = room.topics.get(thread);
  if (!room.isForum || topic === undefined) throw badRequest('message thread not found');
  if (topic.closed && room.standing !== 'administrator') throw badRequest('TOPIC_CLOSED');
  return thread;
}

export function repliedTo(room: Room, parameters: unknown): Message | undefined {
  if (parameters === undefined) return undefined;
  const id = integer(parameters as Arguments, 'message_id');
  const target = id === undefined ? undefined : room.messages.get(id);
  if (target !== undefined && !target.deleted) {
    const { reply_to_message: _, ...flat } = target.message;
    return flat;
  }
  if (flag(parameters as Arguments, 'allow_sending_without_reply')) return undefined;
  throw badRequest('message to be replied not found');
}

function ownMessage(room: Room, args: Arguments, purpose: 'edit' | 'delete'): Stored {
  const id = integer(args, 'message_id');
  if (id === undefined) throw badRequest('message identifier is not specified');
  const stored = room.messages.get(id);
  if (stored === undefined || stored.deleted) throw badRequest(`message to ${purpose} not found`);
  if (!stored.byBot && purpose === 'edit') throw badRequest("message can't be edited");
  if (!stored.byBot && room.type !== 'private' && room.standing !== 'administrator') {
    throw badRequest("message can't be deleted");
  }
  return stored;
}

function change(world: World, stored: Stored, next: Message): Message {
  const { edit_date: _, ...before } = stored.message;
  const { edit_date: __, ...after } = next;
  if (JSON.stringify(comparable(before)) === JSON.stringify(comparable(after))) {
    throw badRequest(
      'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    );
  }
  stored.message = { ...after, edit_date: world.date() };
  if (next.text !== undefined && next.text !== before.text) stored.texts.push(next.text);
  world.changed();
  return stored.message;
}

function comparable({ text, entities, reply_markup: keyboard }: Partial<Message>): object {
  return { text, entities: entities ?? [], keyboard: keyboard satisfies InlineKeyboardMarkup | undefined };
}

export function previewOf(args: Arguments): object {
  const options = args['link_preview_options'];
  return options === undefined ? {} : { link_preview_options: options };
}
