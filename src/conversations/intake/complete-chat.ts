import type { Channel } from '../../core/channel.ts';
import type { Message } from '../../core/message.ts';

/** The message with its chat type looked up; unknown if the platform can't tell, which denies (Q2, A3). */
export async function completeChat(
  message: Message,
  channels: ReadonlyMap<string, Pick<Channel, 'lookUpChat'>>,
): Promise<Message> {
  if (message.chatType !== 'unknown') return message;
  const looked = await channels.get(message.conversation.channel)?.lookUpChat(message.conversation);
  if (looked === undefined) return message;
  return { ...message, chatType: looked.chatType, external: message.external || looked.external };
}
