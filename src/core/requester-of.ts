import type { Message } from './message.ts';
import type { Requester } from './tool.ts';

export function requesterOf(message: Message): Requester {
  const { conversation, chatType, external, sender } = message;
  const { id, name, kind, language, timezone } = sender;
  const replyTo = repliesTo(message);
  return {
    conversation,
    chatType,
    external,
    sender: id,
    name,
    kind,
    language,
    timezone,
    replyTo,
  };
}

/** In groups an answer points at its message. */
export function repliesTo({ chatType, platformId }: Message): string | undefined {
  return chatType === 'private' ? undefined : platformId;
}
