import { approvalAnswers, type Approvals } from '../../approvals/approvals.ts';
import { expired, type Feature } from '../../core/feature.ts';
import { sayIn } from '../../core/texts/say.ts';

/** Questions whether a call may be made (T8), and questions of skills (U14). */
export function approvalsFeature({ approvals }: { approvals: Pick<Approvals, 'answer'> }): Feature {
  return {
    name: 'approvals',
    presses: {
      async ask({ press: { sender, conversation } }, [id = '', value]) {
        const say = sayIn(sender.language);
        const answer = approvalAnswers.find((known) => known === value);
        if (answer === undefined) return { told: say(expired) };
        const from = { sender: sender.id, name: sender.name, conversation, language: sender.language };
        const answered = await approvals.answer(id, from, answer);
        if (answered.kind === 'taken') return undefined;
        return { told: answered.kind === 'unknown' ? say(expired) : answered.text.replaceAll('`', '') };
      },
    },
  };
}
