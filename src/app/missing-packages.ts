import type { Skill } from '../core/skill.ts';
import type { AvailablePackages } from '../sandbox/available-packages.ts';
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
export function installCommand(mode: SandboxMode, missing: readonly string[]): string {
  if (mode === 'off') return `apt-get install ${missing.join(' ')}`;
  const first = [
    ...(mode === 'virtual' ? ['bubblewrap'] : []),
    ...(findRootTool({ uid: 0 }).ok ? [] : ['mmdebstrap']),
  ];
  return `${first.length === 0 ? '' : `apt-get install ${first.join(' ')} && `}skillet sandbox build`;
}
