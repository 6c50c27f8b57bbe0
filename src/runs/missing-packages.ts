import type { Skill } from '../core/skill.ts';
import type { AvailablePackages } from '../sandbox/packages/available-packages.ts';
import { packageOf, pythonPackageOf, unpackaged } from '../sandbox/packages/debian-packages.ts';
import { findRootTool } from '../sandbox/packages/root-tool.ts';
import type { SandboxMode } from '../sandbox/sandbox.ts';
import { pythonNeeds } from '../skills/python-needs.ts';

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
  skill: Pick<Skill, 'installs'>,
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

/** The packages of PyPI that a skill needs and Python would not find. */
export function missingPython(skill: Skill, available: AvailablePackages): readonly string[] {
  return pythonNeeds(skill).filter((name) => !available.imports(name));
}

/** How the operator gets these packages of PyPI into the sandbox in use. */
export function pythonFix(
  mode: SandboxMode,
  from: AvailablePackages['from'],
  missing: readonly string[],
): string {
  const names = missing.flatMap((name) => pythonPackageOf(name) ?? []);
  const others = missing.filter((name) => pythonPackageOf(name) === undefined);
  const all = mode === 'virtual' ? ['bubblewrap', 'python3', ...names] : names;
  const byUv = `no Debian package is known to bring ${others.join(', ')}: a script gets it by uv where its "# /// script" header lists it`;
  return [...packagesFix(from, all), ...(others.length === 0 ? [] : [byUv])].join('; ');
}

function packagesFix(from: AvailablePackages['from'], names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  return from === 'root'
    ? [`skillet sandbox build, once a skill lists packages: [${names.join(', ')}]`]
    : [`apt-get install ${names.join(' ')}`];
}
