import type { ApprovalOutcome } from '../../authoring/approve-skill.ts';
import type { SkillAuthoring } from '../../authoring/skill-authoring.ts';
import type { Feature } from '../../core/feature.ts';
import { skilletHere } from '../../core/skillet-here.ts';
import { fixed, sayIn, type Say } from '../../core/texts/say.ts';
import type { Log } from '../../lib/log.ts';
import { inlineCode } from '../../lib/text/text.ts';

/** Skills that the bot writes are enabled by those who may (D9). */
export function authoringFeature(deps: {
  authoring: Pick<SkillAuthoring, 'approvals' | 'mayApprove'>;
  log: Log;
}): Feature {
  const { approvals, mayApprove } = deps.authoring;
  return {
    name: 'authoring',
    presses: {
      async skill({ press: { sender, action } }, [verdict, version = '']) {
        const say = sayIn(sender.language);
        if (!(await mayApprove(sender.id))) {
          const message = 'somebody who may not approve skills pressed a button that does';
          deps.log.warn({ sender: sender.id, action }, message);
          return { told: say`Only an owner or an approver can decide that.` };
        }
        const name = await approvals.nameOf(version);
        const decide = verdict === 'enable' ? approvals.enable : approvals.discard;
        const decided = name === undefined ? undefined : await decide(name, version, sender.id);
        return { text: outcomeOf(decided, say) };
      },
    },
  };
}

const versionGone = fixed`This version of the skill no longer exists.`;

function outcomeOf(decided: ApprovalOutcome | undefined, say: Say): string {
  if (decided === undefined) return say(versionGone);
  const name = inlineCode(decided.name);
  switch (decided.outcome) {
    case 'enabled':
      return say`Enabled: ${name}.`;
    case 'discarded':
      return say`Discarded: ${name}.`;
    case 'restored':
      return say`Discarded the change of ${name}. The version enabled before is back in use.`;
    case 'changed':
      return say`${name} has changed since, so I did nothing. Review it, then run ${inlineCode(`${skilletHere()} skill enable`)}.`;
    case 'unknown':
      return say(versionGone);
  }
}
