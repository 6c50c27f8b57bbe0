import type { Message } from 'grammy/types';
import type { Room, World } from './world.ts';

/** Gives the bot an update about a message, if it is in the chat and privacy mode lets it see this one. */
export function deliver(
  world: World,
  room: Room,
  kind: 'message' | 'edited_message' | 'channel_post' | 'edited_channel_post',
  message: Message,
): void {
  if (['blocked', 'kicked', 'absent', 'deactivated'].includes(room.standing)) return;
  if (isHidden(world, room, message)) return;
  world.queue.add(kind, message, room.id);
}

/** Privacy mode: in a group only commands for this bot, replies to it and service messages. A plain mention is not enough. */
function isHidden({ me }: World, room: Room, message: Message): boolean {
  if (room.type !== 'group' && room.type !== 'supergroup') return false;
  if (me.can_read_all_group_messages || room.standing === 'administrator') return false;
  const text = message.text ?? message.caption;
  const isService = text === undefined && message.photo === undefined && message.document === undefined;
  if (isService || message.reply_to_message?.from?.id === me.id || message.via_bot?.id === me.id)
    return false;
  const command = /^\/[A-Za-z0-9_]+(?:@([A-Za-z0-9_]+))?/.exec(text ?? '');
  if (command === null) return true;
  const name = command[1];
  return name === undefined ? !room.botSpokeLast : name.toLowerCase() !== me.username.toLowerCase();
}
