import type { Config } from '../config/complete-config.ts';
import type { Skill } from '../core/skill.ts';
import type { AvailablePackages } from '../sandbox/packages/available-packages.ts';
import type { RootFileSystem } from '../sandbox/packages/root-file-system.ts';
import type { SandboxMode } from '../sandbox/sandbox.ts';
import { skillEnvironment } from '../sandbox/script-environment.ts';
import {
  installCommand,
  missingPackages,
  missingPrograms,
  missingPython,
  programsFix,
  pythonFix,
} from './missing-packages.ts';
import { openSkillSandbox } from '../skills/open-skill-sandbox.ts';

/** What one skill asks of the system. */
export type SkillNeed = Readonly<{
  skill: string;
  packages: readonly string[];
  programs: readonly string[];
  /** Packages and programs that are not there: it is off without them. */
  missing: readonly string[];
  /** How to get what is missing, Python packages too; absent where nothing is. */
  command?: string;
  /** Packages of PyPI that are not there: what imports them fails. */
  python: readonly string[];
  /** Names without a value in `[skills.NAME]`. */
  env: readonly string[];
}>;

export type SkillNeeds = Readonly<{
  mode: SandboxMode;
  /** What the bot says of it when it starts: why it is this one, and what a better one takes (T4). */
  why: string;
  /** Of the sandbox. */
  limits: string | undefined;
  root: RootFileSystem | undefined;
  from: AvailablePackages['from'];
  /** One for each of the skills that asks for something. */
  needs: readonly SkillNeed[];
}>;

/** Looks up, as a bot of this config would find it now, what skills ask of the system and what of it is missing (R6). */
export async function skillNeeds(config: Config, skills: readonly Skill[]): Promise<SkillNeeds> {
  const said: string[] = [];
  const keep = (_: object, message: string): void => void said.push(message);
  const {
    sandbox,
    rootFileSystem,
    available: look,
  } = await openSkillSandbox(config, {
    debug: () => undefined,
    info: keep,
    warn: keep,
    error: keep,
  });
  await sandbox.close();
  const { mode, limits } = sandbox;
  const root = rootFileSystem();
  const available = look();
  const needs = skills
    .map((skill): SkillNeed => {
      const python = missingPython(skill, available);
      const { missing: env } = skillEnvironment(skill, config.skills.byName[skill.name]?.env ?? {});
      const packages = missingPackages(skill, available);
      const programs = missingPrograms(skill, available);
      const fixes = [
        ...(packages.length === 0 ? [] : [installCommand(mode, packages, available.from)]),
        ...(programs.length === 0 ? [] : [programsFix(mode, available.from, programs, skill)]),
        ...(python.length === 0 ? [] : [pythonFix(mode, available.from, python)]),
      ];
      return {
        skill: skill.name,
        packages: skill.packages,
        programs: skill.programs,
        missing: [...packages, ...programs],
        python,
        env,
        ...(fixes.length === 0 ? {} : { command: fixes.join('; ') }),
      };
    })
    .filter((need) => [need.packages, need.programs, need.python, need.env].some((each) => each.length > 0));
  return { mode, why: said.join('; '), limits, root, from: available.from, needs };
}
