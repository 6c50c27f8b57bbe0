import type { Message, User } from 'grammy/types';
import { badRequest } from './bot-api-error.ts';
import { flag, integer, string } from './check-arguments.ts';
import { checkKeyboard } from './check-keyboard.ts';
import { formatText, withEntities } from './format-text.ts';
import { previewOf, publicMe, threadOf, writableRoom } from './methods-messages.ts';
import type { Arguments } from './read-call.ts';
import { chatOf, type Room, type Stored, type Whisper, type World } from './world.ts';

type Method = (args: Arguments) => unknown;

/** How long an ephemeral command or a press lets a bot answer that is no administrator. */
const windowMs = 15_000;

/** The platform takes no longer text in an edit, though its page allows 4096 (tdlib/telegram-bot-api issue 881). */
const longestEdit = 1024;

/**
 * Puts a message of the bot into a group that one person alone sees (Bot API 10.2). An administrator can do that at any
 * time, any other bot within 15 s of a press or of an ephemeral message. The words of some refusals are guesses,
 * because no page lists them; the code is always 400.
 */
export function whisper(
  world: World,
  args: Arguments,
  count: (chat: number) => void,
  content: object,
): Stored {
  const keyboard = checkKeyboard(args['reply_markup']);
  const room = writableRoom(world, args);
  const parameters = args['ephemeral_message_parameters'] as Arguments;
  if (room.type !== 'group' && room.type !== 'supergroup') throw badRequest('BOT_NOT_ADMIN');
  const receiver = integer(parameters, 'receiver_user_id') ?? 0;
  const user = world.rooms.get(receiver)?.person;
  if (user === undefined || user.is_bot) throw badRequest('user not found');
  const isAnswer = [pressed(world, room, receiver, parameters), heard(world, room, receiver, args)];
  if (!isAnswer.includes(true) && room.standing !== 'administrator') throw badRequest('BOT_NOT_ADMIN');
  const thread = threadOf(room, integer(args, 'message_thread_id'));
  count(room.id);
  const id = room.whispers.size + 1;
  const message = {
    message_id: 0,
    ephemeral_message_id: id,
    receiver_user: user,
    from: publicMe(world),
    chat: chatOf(room),
    date: world.date(),
    ...(thread === undefined ? {} : { message_thread_id: thread, is_topic_message: true }),
    ...content,
    ...(keyboard === undefined ? {} : { reply_markup: keyboard }),
  } as Message;
  return keep(world, room, id, message, {
    byBot: true,
    person: receiver,
    parseMode: string(args, 'parse_mode') || undefined,
  });
}

/** Whether the message answers a press of the receiver. Throws if the press named is none, or too old. */
function pressed(world: World, room: Room, receiver: number, parameters: Arguments): boolean {
  const id = string(parameters, 'callback_query_id');
  const replaces = flag(parameters, 'replace_callback_query_message');
  if (id === '') {
    if (replaces) throw badRequest('callback query identifier is not specified');
    return false;
  }
  const press = world.presses.get(id);
  const isTheirs = press?.by === receiver && press.room === room.id;
  if (!isTheirs || world.clock.now() - press.at > windowMs)
    throw badRequest('query is too old and response timeout expired or query ID is invalid');
  if (replaces && press.onWhisper) throw badRequest('MESSAGE_ID_INVALID');
  return true;
}

/** Whether the message answers an ephemeral one of the receiver. Throws if there is none, or if it is too old. */
function heard(world: World, room: Room, receiver: number, args: Arguments): boolean {
  const reply = args['reply_parameters'] as Arguments | undefined;
  const id = reply && integer(reply, 'ephemeral_message_id');
  if (reply === undefined) return false;
  if (id === undefined) {
    const target = room.messages.get(integer(reply, 'message_id') ?? 0);
    if (target === undefined || target.deleted) throw badRequest('message to be replied not found');
    return false;
  }
  const said = room.whispers.get(id);
  const isTheirs = said !== undefined && !said.byBot && said.person === receiver;
  if (!isTheirs || world.clock.now() - said.at > windowMs)
    throw badRequest('message to be replied not found');
  return true;
}

function keep(
  world: World,
  room: Room,
  id: number,
  message: Message,
  as: Pick<Whisper, 'byBot' | 'person' | 'parseMode'>,
): Whisper {
  const stored: Whisper = {
    message,
    deleted: false,
    texts: message.text === undefined ? [] : [message.text],
    at: world.clock.now(),
    seen: !world.offline.has(as.person),
    ...as,
  };
  room.whispers.set(id, stored);
  world.changed();
  return stored;
}

/** Methods for ephemeral messages that were sent. */
export function ephemeralMethods(
  world: World,
  count: (chat: number) => void,
): Readonly<Record<string, Method>> {
  const found = (args: Arguments, purpose: 'edit' | 'delete'): Readonly<{ room: Room; stored: Whisper }> => {
    const room = writableRoom(world, args);
    const stored = room.whispers.get(integer(args, 'ephemeral_message_id') ?? 0);
    const isTheirs = stored?.byBot === true && stored.person === integer(args, 'receiver_user_id');
    if (!isTheirs || stored.deleted) throw badRequest(`message to ${purpose} not found`);
    return { room, stored };
  };
  return {
    editephemeralmessagetext(args) {
      const text = formatText(string(args, 'text'), string(args, 'parse_mode'));
      const keyboard = checkKeyboard(args['reply_markup']);
      const { room, stored } = found(args, 'edit');
      if (text.text.length > longestEdit) throw badRequest('MEDIA_CAPTION_TOO_LONG');
      count(room.id);
      const { entities: _, reply_markup: __, link_preview_options: ___, ...before } = stored.message;
      stored.message = {
        ...before,
        text: text.text,
        ...(text.entities.length === 0 ? {} : { entities: text.entities }),
        ...previewOf(args),
        ...(keyboard === undefined ? {} : { reply_markup: keyboard }),
        edit_date: world.date(),
      } as Message;
      stored.texts.push(text.text);
      world.changed();
      return true;
    },
    editephemeralmessagereplymarkup(args) {
      const keyboard = checkKeyboard(args['reply_markup']);
      const { room, stored } = found(args, 'edit');
      count(room.id);
      const { reply_markup: _, ...before } = stored.message;
      stored.message = {
        ...before,
        ...(keyboard === undefined ? {} : { reply_markup: keyboard }),
      };
      world.changed();
      return true;
    },
    deleteephemeralmessage(args) {
      found(args, 'delete').stored.deleted = true;
      world.changed();
      return true;
    },
  };
}

/**
 * A person says something to the bot alone. Their client allows that only for commands whose menu entry is ephemeral and
 * for replies to ephemeral messages of the bot. Privacy mode has no part in it.
 */
export function whisperToBot(
  world: World,
  user: User,
  room: Room,
  text: string,
  { topic, replyTo }: Readonly<{ topic?: number; replyTo?: number }>,
): number {
  const answered = replyTo === undefined ? undefined : room.whispers.get(replyTo);
  const isReply = answered?.byBot === true && answered.person === user.id;
  const name = /^\/([a-z0-9_]+)/.exec(text)?.[1];
  const menus = [...world.commands].flatMap(([scope, entries]) =>
    scope.startsWith('all_group_chats') ? (entries as readonly Arguments[]) : [],
  );
  const isCommand = menus.some((entry) => entry['command'] === name && entry['is_ephemeral'] === true);
  if (!isReply && !isCommand) throw new Error(`no client sends "${text}" to the bot alone`);
  const id = room.whispers.size + 1;
  const { entities } = withEntities(text);
  const message = {
    message_id: 0,
    ephemeral_message_id: id,
    receiver_user: publicMe(world),
    from: user,
    chat: chatOf(room),
    date: world.date(),
    ...(topic === undefined ? {} : { message_thread_id: topic, is_topic_message: true }),
    text,
    ...(entities.length === 0 ? {} : { entities }),
  } as Message;
  keep(world, room, id, message, { byBot: false, person: user.id, parseMode: undefined });
  world.queue.add('message', message, room.id);
  return id;
}
