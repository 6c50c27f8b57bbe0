import { decideSkill } from '../access/decide-skill.ts';
import { builtInNames } from '../core/built-in-tools.ts';
import type { Skill } from '../core/skill.ts';
import { namesListed } from '../tools/allowed-tools.ts';
import type { LentTools } from '../tools/tool-restriction.ts';
import type { OpenTurn } from './open-turn.ts';
import type { TurnDeps } from './turn-context.ts';

const lendable = builtInNames(({ inline }) => inline === true);

/** Tools for reading files that an inline skill names and therefore lends to the main agent. */
export function lentBy({ context, allowedTools }: Skill): readonly string[] {
  return context === 'inline' ? namesListed(allowedTools, lendable) : [];
}

/**
 * Fixed when the turn begins, so that the list of tools stays cacheable (M13) and an edit of a skill can't widen it
 * (D7).
 */
export function lentTools(turn: OpenTurn, { runtime }: TurnDeps): LentTools {
  const { config, rules } = runtime();
  const may = (skill: Skill): boolean =>
    [turn.use, turn.byModel].some((use) => decideSkill(skill, rules, use).allowed);
  const skills = turn.task === undefined ? turn.registry.skills : [];
  const lending = skills.filter((skill) => lentBy(skill).length > 0 && may(skill));
  const known = new Set(lending.map(({ name }) => name));
  const own = new Set(config.agent.tools);
  return {
    names: new Set(lending.flatMap(lentBy).filter((name) => !own.has(name))),
    by: ({ skill, allowedTools }) => (known.has(skill) ? namesListed(allowedTools, lendable) : []),
  };
}
