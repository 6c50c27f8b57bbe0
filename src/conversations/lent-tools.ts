import { decideSkill } from '../access/decide-skill.ts';
import type { ToolTable } from '../core/built-in-tools.ts';
import type { Skill } from '../core/skill.ts';
import { mainTools } from '../tools/main-tools.ts';
import { namesListed } from '../tools/allowed-tools.ts';
import type { LentTools } from '../tools/tool-restriction.ts';
import type { OpenTurn } from './open-turn.ts';
import type { TurnDeps } from './turn-context.ts';

/** Tools for reading files that an inline skill names and therefore lends to the main agent. */
export function lentBy({ context, allowedTools }: Skill, builtInTools: ToolTable): readonly string[] {
  return context === 'inline' ? namesListed(allowedTools, lendable(builtInTools)) : [];
}

function lendable(builtInTools: ToolTable): readonly string[] {
  return builtInTools.names(({ inline }) => inline === true);
}

/**
 * Fixed when the turn begins, so that the list of tools stays cacheable (M13) and an edit of a skill can't widen it
 * (D7).
 */
export function lentTools(turn: OpenTurn, { runtime, builtInTools }: TurnDeps): LentTools {
  const { config, rules } = runtime();
  const may = (skill: Skill): boolean =>
    [turn.use, turn.byModel].some((use) => decideSkill(skill, rules, use).allowed);
  const skills = turn.task === undefined ? turn.registry.skills : [];
  const lending = skills.filter((skill) => lentBy(skill, builtInTools).length > 0 && may(skill));
  const known = new Set(lending.map(({ name }) => name));
  const own = new Set(mainTools(config, builtInTools));
  return {
    names: new Set(lending.flatMap((skill) => lentBy(skill, builtInTools)).filter((name) => !own.has(name))),
    by: ({ skill, allowedTools }) =>
      known.has(skill) ? namesListed(allowedTools, lendable(builtInTools)) : [],
  };
}
