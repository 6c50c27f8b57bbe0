import type { Log } from '../../lib/log.ts';
import type { Message } from '../../core/message.ts';
import type { CallSlack } from './call-slack.ts';
import { slackErrorCode } from './slack-error.ts';

/** Sets the receipt reaction, an emoji by name, on a message (H13). It is a courtesy: it is not waited for, and no failure matters. */
export function createReact(
  call: CallSlack,
  name: string,
  log: Log,
): (message: Pick<Message, 'conversation' | 'platformId'>) => void {
  return ({ conversation, platformId }) => {
    // A slash call is no message.
    if (platformId === undefined) return;
    call('reactions.add', { channel: conversation.chat, timestamp: platformId, name }).catch(
      (error: unknown) => {
        const code = slackErrorCode(error);
        const level = code === 'invalid_name' ? 'warn' : 'debug';
        log[level](
          { err: code === undefined ? error : undefined, code, name },
          'a reaction could not be set',
        );
      },
    );
  };
}
