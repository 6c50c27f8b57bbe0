import type { App, Desk } from '../../app.ts';
import type { Feature } from '../../core/feature.ts';
import { sayOrigin } from '../../core/provenance.ts';
import { skillNamed } from '../../core/skill.ts';
import { skilletHere } from '../../core/skillet-here.ts';
import { fixed, sayIn, type Say } from '../../core/texts/say.ts';
import { inlineCode } from '../../lib/text/text.ts';
import { writtenRoot } from '../../skills/open-library.ts';
import { createWrittenSkills } from '../../skills/written-skills.ts';
import { createSkillApprovals, type ApprovalOutcome, type SkillApprovals } from './approve-skill.ts';
import { authoringOperations } from './operations.ts';
import { createSkillAuthoring, createSkillWritingTools, skillWritingRows } from './skill-authoring.ts';

/** Skills that the bot writes, which those enable who may (D9). */
export const authoring = {
  create: createAuthoring,
  tools: skillWritingRows,
  atRest({ config, store, log }: Desk) {
    const written = createWrittenSkills(store);
    const onChange = async (): Promise<void> => undefined;
    return atRest(createSkillApprovals({ root: writtenRoot(config()), written, onChange, log }));
  },
};

function atRest(approvals: SkillApprovals) {
  return { operations: authoringOperations(approvals), forget: approvals.forget };
}

function createAuthoring(app: App): Feature {
  const { approvals, mayApprove, writing } = createSkillAuthoring({ ...app, otherTools: app.outside.names });
  return {
    name: 'authoring',
    ...atRest(approvals),
    run: async ({ skill, whose }) =>
      createSkillWritingTools(writing, whose).filter(({ name }) => skill.allowedTools?.includes(name)),
    async kept({ skill }, say) {
      const record = skill === undefined ? undefined : skillNamed(await approvals.records(), skill);
      if (record === undefined) return [];
      const origin = sayOrigin(record.from, say);
      const from = origin === undefined ? '' : ` (${say`From: ${origin}`})`;
      return [`${say`I wrote ${inlineCode(record.name)} myself.`}${from}`];
    },
    presses: {
      async skill({ press: { sender, action } }, [verdict, version = '']) {
        const say = sayIn(sender.language);
        if (!(await mayApprove(sender.id))) {
          const message = 'somebody who may not approve skills pressed a button that does';
          app.log.warn({ sender: sender.id, action }, message);
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
