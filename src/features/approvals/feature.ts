import type { App, Desk } from '../../app.ts';
import { expired, type Feature, type WhyAsked } from '../../core/feature.ts';
import { sayOrigin } from '../../core/provenance.ts';
import { sayIn, type Say } from '../../core/texts/say.ts';
import { inlineCode } from '../../lib/text/text.ts';
import { createApprovalDetails } from './approval-details.ts';
import { answerByText } from './answer-by-text.ts';
import { approvalAnswers, createApprovals, type Approvals } from './approvals.ts';
import { approvalOperations } from './operations.ts';
import { createStandingRules, type KeptRule, type StandingRules } from './standing-rules.ts';

/** Questions whether a call may be made (T8), and questions of skills (U14). */
export const approvals = {
  create: createApprovalsFeature,
  atRest: (desk: Desk) => atRest(desk, rulesOf(desk)),
};

function rulesOf({ store, audit }: Desk): StandingRules {
  return createStandingRules({ stored: store.keyed('standing-rules'), audit });
}

function atRest(desk: Desk, rules: StandingRules, answer?: Approvals['answer']) {
  return { operations: approvalOperations(desk, rules, desk.definitionHashes, answer), forget: rules.forget };
}

function createApprovalsFeature(app: App): Feature {
  const { config, users } = app;
  const rules = rulesOf(app);
  const details = createApprovalDetails(app);
  const questions = createApprovals(
    { ...app, rules, details, approvers: () => config().policy.approvers, isOwner: users.isOwner },
    app,
  );
  return {
    name: 'approvals',
    ...atRest(app, rules, questions.answer),
    async forget(sender) {
      await details.forget(sender);
      await rules.forget(sender);
    },
    ask: { request: questions.request, covers: rules.covers },
    takes: {
      answer: (message, isAddressed) => answerByText(message, isAddressed, { ...app, approvals: questions }),
    },
    presses: {
      async ask({ press }, [id = '', value]) {
        const { sender } = press;
        const say = sayIn(sender.language);
        if (value === 'details') {
          const told = await questions.showDetails(id, press);
          return told === undefined ? undefined : { told: told.replaceAll('`', '') };
        }
        const answer = approvalAnswers.find((known) => known === value);
        if (answer === undefined) return { told: say(expired) };
        const from = {
          sender: sender.id,
          name: sender.name,
          conversation: press.conversation,
          language: sender.language,
        };
        const answered = await questions.answer(id, from, answer);
        if (answered.kind === 'taken') return undefined;
        return { told: answered.kind === 'unknown' ? say(expired) : answered.text.replaceAll('`', '') };
      },
    },
    async stopped({ cancelled }) {
      for (const id of cancelled) await questions.finishApproval(id);
    },
    kept: async (asked, say) => keptLines(asked, await rules.list(), say),
    attend: () => questions.attend(),
  };
}

/** The standing approvals that a person has in a chat, each with whose words led to it (S13). */
function keptLines(
  { who, where, skill }: WhyAsked,
  standing: readonly KeptRule[],
  say: Say,
): readonly string[] {
  const theirs = standing.filter(
    (rule) =>
      rule.sender === who &&
      (where === undefined || rule.chat === where) &&
      (skill === undefined || rule.skill === skill),
  );
  const lines = theirs.map((rule) => {
    const of = rule.skill === undefined ? '' : `, ${inlineCode(rule.skill)}`;
    const origin = sayOrigin(rule.from, say);
    const from = origin === undefined ? '' : ` (${say`From: ${origin}`})`;
    return `- ${inlineCode(rule.tool)}${of}, ${inlineCode(rule.chat)}${from}`;
  });
  return lines.length === 0 ? [] : [[say`Calls that I no longer ask them about:`, ...lines].join('\n')];
}
