import type { Skill } from '../core/skill.ts';
import type { AvailablePackages } from '../sandbox/available-packages.ts';
import { packageOf } from '../sandbox/has-program.ts';
import { findRootTool } from '../sandbox/root-tool.ts';
import type { SandboxMode } from '../sandbox/sandbox.ts';

/** The packages of a skill that its commands would not find. */
export function missingPackages(
  { packages }: Pick<Skill, 'packages'>,
  available: AvailablePackages,
): readonly string[] {
  return packages.filter((name) => !available.has(name));
}

/** The command by which the operator gets these packages into the sandbox in use (R6). */
export function installCommand(
  mode: SandboxMode,
  missing: readonly string[],
  from: AvailablePackages['from'],
): string {
  if (from === 'image') return 'skillet sandbox build (and take [sandbox] image out of the config)';
  if (mode === 'off') return `apt-get install ${missing.join(' ')}`;
  const first = [
    ...(mode === 'virtual' ? ['bubblewrap'] : []),
    ...(findRootTool({ uid: 0 }).ok ? [] : ['mmdebstrap']),
  ];
  return `${first.length === 0 ? '' : `apt-get install ${first.join(' ')} && `}skillet sandbox build`;
}

/** The programs of a skill that its commands could not start. */
export function missingPrograms(
  { programs }: Pick<Skill, 'programs'>,
  available: AvailablePackages,
): readonly string[] {
  return programs.filter((name) => !available.runs(name));
}

/** How the operator gets these programs into the sandbox in use. */
export function programsFix(
  mode: SandboxMode,
  from: AvailablePackages['from'],
  missing: readonly string[],
): string {
  const names = missing.map(packageOf);
  if (from === 'root') return `skillet sandbox build, once a skill lists packages: [${names.join(', ')}]`;
  const first = mode === 'virtual' ? ['bubblewrap'] : [];
  return `apt-get install ${[...first, ...names].join(' ')} (or as the skill says)`;
}
