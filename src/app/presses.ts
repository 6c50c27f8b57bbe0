import type { Channel, Press } from '../core/channel.ts';
import { parseCommand } from '../core/parse-command.ts';
import type { Log } from '../core/log.ts';
import type { Message } from '../core/message.ts';
import type { Pairing, PairingRequest } from './pairing.ts';
import type { People } from './people.ts';

export type Presses = Readonly<{
  /** Acts on a press at once, outside the lane (Q4). A press that starts a skill becomes a message like one typed. */
  press(press: Press, say: (message: Message) => Promise<void>): Promise<void>;
}>;

/** Buttons the bot itself puts under its messages. Anybody in a chat can press: each action judges its presser. */
export function createPresses(options: {
  people: People;
  pairing: Pairing;
  /** Tells the person who was let in. */
  welcome(request: PairingRequest): Promise<void>;
  channels: ReadonlyMap<string, Channel>;
  now: () => number;
  log: Log;
}): Presses {
  const { people, pairing, welcome, channels, now, log } = options;

  async function decidePairing(press: Press, verdict: string, code: string): Promise<void> {
    if (!(await people.isOwner(press.sender.id))) {
      log.warn(
        { sender: press.sender.id, action: press.action },
        'somebody who is not the owner pressed a pairing button',
      );
      return;
    }
    const request = verdict === 'approve' ? await pairing.approve(code) : await pairing.deny(code);
    if (request !== undefined && verdict === 'approve') await welcome(request);
    const outcome =
      request === undefined
        ? 'This code is no longer valid.'
        : `${verdict === 'approve' ? 'Let in' : 'Not let in'}: \`${request.sender}\`.`;
    const channel = channels.get(press.conversation.channel);
    await channel?.edit(press.conversation, press.receipt, { markdown: outcome }).catch((error: unknown) => {
      log.warn({ err: error, press: press.id }, 'the message of a press could not be changed to its outcome');
    });
  }

  return {
    async press(press, say) {
      const [kind, ...rest] = press.action.split(':');
      if (kind === 'pair') return decidePairing(press, rest[0] ?? '', rest[1] ?? '');
      if (kind !== 'run')
        return log.info({ action: press.action }, 'a button that means nothing any more was pressed');
      const text = `/${rest.join(':')}`;
      const command = parseCommand(text);
      const { conversation, chatType, external, sender } = press;
      await say({
        id: `press:${press.id}`,
        conversation,
        chatType,
        external,
        sender,
        text,
        addressed: true,
        ...(command === undefined ? {} : { command }),
        attachments: [],
        sentAt: now(),
      });
    },
  };
}
