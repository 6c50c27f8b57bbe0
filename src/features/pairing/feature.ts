import type { App } from '../../app.ts';
import type { Feature } from '../../core/feature.ts';
import { fixed, sayIn } from '../../core/texts/say.ts';
import { inlineCode } from '../../lib/text/text.ts';

/** Owners approve people who ask to use the bot (A10). */
export const pairing = { create: createPairingDecisions };

function createPairingDecisions({ users, pairing, welcome, log }: App): Feature {
  return {
    name: 'pairing',
    async home({ sender }) {
      if (!(await users.isOwner(sender.id))) return {};
      const say = sayIn(sender.language);
      const top = (await pairing.pending()).map(({ name, sender: id, code }) => ({
        markdown: say`${inlineCode(name)} asks to use this bot: id ${inlineCode(id)}.`,
        buttons: [
          { label: say`Approve`, action: `pair:approve:${code}` },
          { label: say`Deny`, action: `pair:deny:${code}` },
        ],
      }));
      return { top };
    },
    presses: {
      async pair({ press: { sender, action } }, [verdict, code = '']) {
        const say = sayIn(sender.language);
        if (!(await users.isOwner(sender.id))) {
          log.warn({ sender: sender.id, action }, 'somebody who is not the owner pressed a pairing button');
          return { told: say`Only an owner can approve people.` };
        }
        const approves = verdict === 'approve';
        const request = await (approves ? pairing.approve(code, sender.id) : pairing.deny(code, sender.id));
        if (request === undefined)
          return { text: say`This code is no longer valid. They get a new one if they write to me again.` };
        if (approves) await welcome(request);
        return {
          text: say(approves ? approved : denied, inlineCode(request.name), inlineCode(request.sender)),
        };
      },
    },
  };
}

const approved = fixed`Approved ${0} (${1}).`;
const denied = fixed`Denied ${0} (${1}).`;
