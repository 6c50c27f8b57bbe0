import type { WriteCommand } from '../core/channel.ts';
import type { MessageDenial } from './decide-message.ts';
import type { Message } from '../core/message.ts';
import { claimedToken } from './claimed-token.ts';
import { inlineCode } from '../lib/text/inline-code.ts';
import type { Pairing } from './pairing.ts';
import type { Voice } from '../replies/replies.ts';
import { sayIn } from '../core/texts/say.ts';

/** How the bot meets people it does not know: nothing they wrote reaches a model (A10). */
export type Strangers = Readonly<{
  /** Takes a message that claims ownership with the terminal's token; true when it was one. */
  claims(message: Message): Promise<boolean>;
  /** Answers a message that was not admitted, where an answer is due. */
  meet(message: Message, code: MessageDenial): Promise<void>;
}>;

export function createStrangers(options: {
  pairing: Pairing;
  voice: Voice;
  writeCommand: WriteCommand;
}): Strangers {
  const { pairing, voice, writeCommand } = options;
  return {
    async claims(message) {
      const { chatType, sender } = message;
      const token = claimedToken(message);
      if (token === undefined || chatType !== 'private' || sender.kind !== 'person') return false;
      const done = await pairing.claim(token, sender.id);
      if (!done && !(await pairing.mayAnswer(sender.id))) return true;
      const say = sayIn(sender.language);
      await voice.answer(
        message,
        done
          ? say`You are the owner now (${inlineCode(sender.id)}). Put ${inlineCode(`owner = ["${sender.id}"]`)} under ${inlineCode('[bot]')} in ${inlineCode('config.toml')} to keep that. ${writeCommand(message.conversation, 'help')} tells you what I can do.`
          : say`This token is not valid, or no longer. Restart the bot to get a new one.`,
      );
      return true;
    },
    async meet(message, code) {
      if (message.chatType !== 'private') return;
      if (code === 'NOT_ALLOWED') return introduce(message);
      if (code !== 'STRANGER') return;
      const request = await pairing.request(message);
      if (request === undefined) return;
      await voice.answer(
        message,
        sayIn(
          message.sender.language,
        )`I don't know you yet. Your pairing code is ${inlineCode(request.code)}, valid for an hour. Give it to my operator, who can approve you.`,
      );
      await voice.tellOwners(
        `pair:${request.code}`,
        `${inlineCode(request.name)} asks to use this bot: id \`${request.sender}\`. Code \`${request.code}\`, valid for an hour.`,
        {
          buttons: [
            { label: 'Approve', action: `pair:approve:${request.code}` },
            { label: 'Deny', action: `pair:deny:${request.code}` },
          ],
        },
      );
    },
  };

  async function introduce(message: Message): Promise<void> {
    if (!(await pairing.mayAnswer(message.sender.id))) return;
    await voice.answer(
      message,
      sayIn(
        message.sender.language,
      )`I only talk to people my operator has listed. Your id is ${inlineCode(message.sender.id)}.`,
    );
  }
}
