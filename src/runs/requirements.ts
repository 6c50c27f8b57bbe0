import type { Readiness } from './use-skill.ts';
import type { Config } from '../config/complete-config.ts';
import { fail } from '../core/envelope.ts';
import type { Skill } from '../core/skill.ts';
import type { AvailablePackages } from '../sandbox/packages/available-packages.ts';
import type { SandboxMode } from '../sandbox/sandbox.ts';
import { skillEnvironment } from '../sandbox/script-environment.ts';
import type { Capabilities } from '../capabilities/create-capabilities.ts';
import { installCommand, missingPackages, missingPrograms, programsFix } from './missing-packages.ts';

/** Tells for many skills, as of now, whether what they need is on this system at all; one that lacks it stays out of the catalogue (P3). */
export type Availability = () => (skill: Skill) => boolean;

export function createAvailability(available: () => AvailablePackages): Availability {
  return () => {
    let now: AvailablePackages | undefined;
    return (skill) =>
      (skill.packages.length === 0 || missingPackages(skill, (now ??= available())).length === 0) &&
      (skill.programs.length === 0 || missingPrograms(skill, (now ??= available())).length === 0);
  };
}

/** The last checks before a run (U1): packages, programs, env, capabilities, each with what the operator has to do. */
export function createReadiness(options: {
  config: () => Config;
  mode: SandboxMode;
  available: () => AvailablePackages;
  /** See `Capabilities.lacking`. */
  lackingCapabilities: Capabilities['lacking'];
}): Readiness {
  const { config, mode, available, lackingCapabilities } = options;
  return async (skill, requester, signal) => {
    const missing = skill.packages.length === 0 ? [] : missingPackages(skill, available());
    if (missing.length > 0) {
      const those = missing.length === 1 ? 'the package' : 'the packages';
      return fail(
        'SKILL_UNAVAILABLE',
        `${skill.name} needs ${those} ${missing.join(', ')}, which the sandbox does not have. The operator installs them by: ${installCommand(mode, missing, available().from)}`,
      );
    }
    const now = skill.programs.length === 0 ? undefined : available();
    const absent = now === undefined ? [] : missingPrograms(skill, now);
    if (now !== undefined && absent.length > 0) {
      const those = absent.length === 1 ? 'the program' : 'the programs';
      return fail(
        'SKILL_UNAVAILABLE',
        `${skill.name} needs ${those} ${absent.join(', ')}, which the sandbox does not have. The operator installs what is missing: ${programsFix(mode, now.from, absent, skill)}`,
      );
    }
    const { missing: unset } = skillEnvironment(skill, config().skills.byName[skill.name]?.env ?? {});
    if (unset.length > 0) {
      const lines = unset.map((name) => `${name} = "…"`).join('\n');
      return fail(
        'MISSING_ENV',
        `${skill.name} is not set up. The operator adds to config.toml:\n[skills.${skill.name}]\n${lines}`,
      );
    }
    const lacking = await lackingCapabilities(skill, requester, signal);
    return lacking === undefined ? undefined : fail('CAPABILITY_UNAVAILABLE', lacking);
  };
}
