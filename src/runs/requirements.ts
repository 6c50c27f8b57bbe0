import type { Feature } from '../core/feature.ts';
import type { Config } from '../config/complete-config.ts';
import { fail } from '../core/envelope.ts';
import type { Skill } from '../core/skill.ts';
import type { Requirements } from './use-skill.ts';
import { type AvailablePackages, type RootFileSystem } from '../sandbox/packages/available-packages.ts';
import { packageOf, pythonPackageOf, unpackaged } from '../sandbox/packages/debian-packages.ts';
import { findRootTool } from '../sandbox/packages/root-recipe.ts';
import type { SandboxMode } from '../sandbox/sandbox.ts';
import { skillEnvironment } from '../sandbox/script-command.ts';
import { openSkillSandbox } from '../skills/open-library.ts';
import { pythonNeeds } from '../skills/skill-files.ts';
import { skilletHere } from '../core/skillet-here.ts';

/**
 * Makes a check whether the system has the programs and packages that a skill needs (P3). One check looks at the system
 * at most once.
 */
export type Availability = () => (skill: Skill) => boolean;

export function createAvailability(available: () => AvailablePackages): Availability {
  return () => {
    let now: AvailablePackages | undefined;
    return (skill) =>
      (skill.packages.length === 0 || missingPackages(skill, (now ??= available())).length === 0) &&
      (skill.programs.length === 0 || missingPrograms(skill, (now ??= available())).length === 0);
  };
}

/** Checks what a skill needs before it runs. Each refusal tells the operator how to fix it (U1). */
export function createRequirements(options: {
  config: () => Config;
  mode: SandboxMode;
  available: () => AvailablePackages;
  features: readonly Feature[];
}): Requirements {
  const { config, mode, available, features } = options;
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
    if (skill.capabilities.length > 0 && !features.some(({ serves }) => serves === 'capabilities'))
      return fail(
        'CAPABILITY_UNAVAILABLE',
        `${skill.name} needs ${skill.capabilities.join(', ')}, and this bot has no part that serves capabilities`,
      );
    for (const feature of features) {
      const lacking = await feature.lacks?.(skill, requester, signal);
      if (lacking !== undefined) return fail('CAPABILITY_UNAVAILABLE', lacking);
    }
    return undefined;
  };
}

function missingPackages({ packages }: Skill, available: AvailablePackages): readonly string[] {
  return packages.filter((name) => !available.has(name));
}

/** The command that installs missing packages for the sandbox in use (R6). */
function installCommand(
  mode: SandboxMode,
  missing: readonly string[],
  from: AvailablePackages['from'],
): string {
  if (from === 'image') return `${skilletHere()} sandbox build (and take [sandbox] image out of the config)`;
  if (mode === 'off') return `apt-get install ${missing.join(' ')}`;
  const first = [
    ...(mode === 'virtual' ? ['bubblewrap'] : []),
    ...(findRootTool({ uid: 0 }).ok ? [] : ['mmdebstrap']),
  ];
  return `${first.length === 0 ? '' : `apt-get install ${first.join(' ')} && `}${skilletHere()} sandbox build`;
}

function missingPrograms({ programs }: Skill, available: AvailablePackages): readonly string[] {
  return programs.filter((name) => !available.runs(name));
}

function programsFix(
  mode: SandboxMode,
  from: AvailablePackages['from'],
  missing: readonly string[],
  skill: Skill,
): string {
  const names = [...new Set(missing.flatMap((program) => packageOf(program) ?? []))];
  const others = missing.filter((program) => packageOf(program) === undefined);
  const all = [...(mode === 'virtual' ? ['bubblewrap'] : []), ...names];
  return [
    ...packagesFix(from, all),
    ...others.map((program) =>
      unpackaged(program, Object.hasOwn(skill.installs, program) ? skill.installs[program] : undefined),
    ),
  ].join('; ');
}

function missingPython(skill: Skill, available: AvailablePackages): readonly string[] {
  return pythonNeeds(skill).filter((name) => !available.imports(name));
}

function pythonFix(mode: SandboxMode, from: AvailablePackages['from'], missing: readonly string[]): string {
  const names = missing.flatMap((name) => pythonPackageOf(name) ?? []);
  const others = missing.filter((name) => pythonPackageOf(name) === undefined);
  const all = mode === 'virtual' ? ['bubblewrap', 'python3', ...names] : names;
  const byUv = `no Debian package is known to bring ${others.join(', ')}: a script gets it by uv where its "# /// script" header lists it`;
  return [...packagesFix(from, all), ...(others.length === 0 ? [] : [byUv])].join('; ');
}

function packagesFix(from: AvailablePackages['from'], names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  return from === 'root'
    ? [`${skilletHere()} sandbox build, once a skill lists packages: [${names.join(', ')}]`]
    : [`apt-get install ${names.join(' ')}`];
}

export type SkillNeed = Readonly<{
  skill: string;
  packages: readonly string[];
  programs: readonly string[];
  /** Packages and programs that are missing; without them the skill is off. */
  missing: readonly string[];
  command?: string;
  /** PyPI packages that the skill needs and Python can't import. */
  python: readonly string[];
  /** Environment variables that `[skills.NAME]` does not set. */
  env: readonly string[];
}>;

type SkillNeeds = Readonly<{
  mode: SandboxMode;
  /** Why this sandbox was chosen, and what a better one needs (T4). */
  why: string;
  limits: string | undefined;
  root: RootFileSystem | undefined;
  from: AvailablePackages['from'];
  needs: readonly SkillNeed[];
}>;

/** What skills need and what is missing here, with this config (R6). Opens and closes a sandbox to find out. */
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
        command: fixes.length === 0 ? undefined : fixes.join('; '),
      };
    })
    .filter((need) => [need.packages, need.programs, need.python, need.env].some((each) => each.length > 0));
  return { mode, why: said.join('; '), limits, root, from: available.from, needs };
}
