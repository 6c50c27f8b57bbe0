import type { Config } from '../config/complete-config.ts';
import type { Skill } from '../core/skill.ts';

/** The model that a skill's runs ask, by its alias, and how often: the operator's settings win over the skill. */
export function skillRunSettings(
  skill: Skill,
  { skills, agents, agent }: Config,
): Readonly<{ model: string; maxIterations: number }> {
  const settings = skills.byName[skill.name];
  return {
    model: settings?.model ?? skill.model ?? agents[skill.agent]?.model ?? agent.model,
    maxIterations: settings?.maxIterations ?? skill.maxIterations,
  };
}
