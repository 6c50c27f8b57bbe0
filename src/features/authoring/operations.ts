import { OperatorError } from '../../core/errors.ts';
import { changes, noInput, reads, textInput } from '../../core/operation.ts';
import type { ApprovalOutcome, SkillApprovals } from './approve-skill.ts';

/** What operators can do about skills that the bot wrote. */
export function authoringOperations(approvals: SkillApprovals) {
  return {
    'skill written': reads(noInput, () => approvals.records()),
    'skill enable': changes(textInput, async (name) => decided(await approvals.enable(name))),
    'skill discard': changes(textInput, async (name) => decided(await approvals.discard(name))),
  };
}

function decided(outcome: ApprovalOutcome): ApprovalOutcome {
  const { name } = outcome;
  if (outcome.outcome === 'unknown')
    throw new OperatorError(
      `${name} is no skill that the bot wrote: those are switched by [skills.${name}] enabled in the config`,
    );
  if (outcome.outcome === 'changed')
    throw new OperatorError(`${name} was changed by hand since the bot wrote it: delete its folder yourself`);
  return outcome;
}
