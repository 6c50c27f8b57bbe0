import type { App } from '../../app.ts';
import { expired, type Feature } from '../../core/feature.ts';
import { skilletHere } from '../../core/skillet-here.ts';
import { sayIn } from '../../core/texts/say.ts';
import { inlineCode } from '../../lib/text/text.ts';

/** Owners decide about groups that the bot was added to (H13). */
export const groups = { create: createGroupDecisions };

function createGroupDecisions({ users, groups, log }: App): Feature {
  return {
    name: 'groups',
    presses: {
      async group({ press: { sender, action } }, [verdict, ...chat]) {
        const say = sayIn(sender.language);
        if (!(await users.isOwner(sender.id))) {
          log.warn(
            { sender: sender.id, action },
            'somebody who is not the owner pressed a button on a group',
          );
          return { told: say`Only an owner can decide about groups.` };
        }
        if (verdict !== 'allow' && verdict !== 'ignore') return { told: say(expired) };
        const id = chat.join(':');
        const group = await groups.decide(id, verdict, sender.id);
        if (group === undefined)
          return {
            text: say`${inlineCode(id)} has nothing left to decide. ${inlineCode(`${skilletHere()} pair list`)} shows the decisions.`,
          };
        const words =
          verdict === 'allow'
            ? say`Allowed: ${inlineCode(group.name)}, ${inlineCode(id)}. People I know may talk to me there.`
            : say`Ignored: ${inlineCode(group.name)}, ${inlineCode(id)}. I stay silent there and won’t ask again.`;
        const undo = say`${inlineCode(`${skilletHere()} pair revoke ${id}`)} takes that back.`;
        return { text: `${words} ${undo}` };
      },
    },
  };
}
