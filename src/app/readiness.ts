import type { Readiness } from '../agent/use-skill.ts';
import type { Config } from '../config/complete-config.ts';
import { fail } from '../core/envelope.ts';
import type { Skill } from '../core/skill.ts';
import { skillEnvironment } from '../sandbox/script-environment.ts';

/** Whether what a skill needs is on this system at all; one that is not stays out of the catalogue (P3). */
export function isAvailable(skill: Skill): boolean {
  return skill.packages.length === 0;
}

/** The last checks before a run (U1): packages, env, capabilities, each with what the operator has to do. */
export function createReadiness(config: () => Config): Readiness {
  return (skill) => {
    if (!isAvailable(skill)) {
      return fail(
        'SKILL_UNAVAILABLE',
        `${skill.name} needs the packages ${skill.packages.join(', ')}, which this bot's sandbox cannot provide yet.`,
      );
    }
    const environment = skillEnvironment(skill, config().skills.byName[skill.name]?.env ?? {});
    if (!environment.ok) {
      const lines = environment.missing.map((name) => `${name} = "…"`).join('\n');
      return fail(
        'MISSING_ENV',
        `${skill.name} is not set up. The operator adds to config.toml:\n[skills.${skill.name}]\n${lines}`,
      );
    }
    if (skill.capabilities.length > 0) {
      return fail(
        'CAPABILITY_UNAVAILABLE',
        `no provider is set up for ${skill.capabilities.join(', ')}, which ${skill.name} needs.`,
      );
    }
    return undefined;
  };
}
