import type { Channel } from '../core/channel.ts';
import { SendError } from '../core/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Message } from '../core/message.ts';

/**
 * Deletes a person's message that holds a secret, where the platform lets the bot do that, and says in a sentence what came of
 * it; nothing where there is no such message (a slash command, a terminal).
 */
export type RemoveSecret = (message: Pick<Message, 'conversation' | 'platformId'>) => Promise<string>;

export function createRemoveSecret(options: {
  channels: ReadonlyMap<string, Pick<Channel, 'remove'>>;
  log: Log;
}): RemoveSecret {
  const { channels, log } = options;

  return async ({ conversation, platformId }) => {
    if (platformId === undefined) return '';
    try {
      await channels.get(conversation.channel)?.remove(conversation, { id: platformId });
      return ' Your message was deleted here.';
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      log.info({ err: error }, 'a message with a secret could not be deleted');
      return ' I can not delete your message here: please delete it yourself, it holds a secret.';
    }
  };
}
