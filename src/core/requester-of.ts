import type { Message } from './message.ts';
import type { Requester } from './tool.ts';

/** In whose name and where something is done for a message. */
export function requesterOf({ conversation, chatType, external, sender }: Message): Requester {
  const { id, name, kind, language } = sender;
  return {
    conversation,
    chatType,
    external,
    sender: id,
    name,
    kind,
    ...(language === undefined ? {} : { language }),
  };
}
