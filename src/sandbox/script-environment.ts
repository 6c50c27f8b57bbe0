import type { Diagnostic } from '../core/diagnostic.ts';
import type { Skill } from '../core/skill.ts';
import { steersPrograms } from '../core/steers-programs.ts';

export type SkillEnvironment = Readonly<{
  /** What has a value. */
  env: Readonly<Record<string, string>>;
  /** Names without a value: the skill is not set up. */
  missing: readonly string[];
  /** One for each name that is refused. */
  diagnostics: readonly Diagnostic[];
}>;

/**
 * The environment of a skill's processes (U3): the names in its `env`, and those the operator wrote under `[skills.NAME]`,
 * as scripts of public skills read more than they declare. An empty value counts as missing. Names that steer a loader or
 * interpreter are refused. A skill that waits for approval gets nothing (D9).
 */
export function skillEnvironment(
  skill: Pick<Skill, 'name' | 'path' | 'env' | 'access'>,
  values: Readonly<Record<string, string | undefined>>,
): SkillEnvironment {
  if (!skill.access.approved) return { env: {}, missing: [], diagnostics: [] };
  const wanted = [...new Set([...skill.env, ...Object.keys(values)])];
  const valueOf = (name: string): string => (Object.hasOwn(values, name) ? (values[name] ?? '') : '');
  const names = wanted.filter((name) => !steersPrograms(name));
  const diagnostics = wanted.filter(steersPrograms).map((name): Diagnostic => ({
    level: 'warning',
    code: 'ENV_REFUSED',
    message: `${skill.name} declares env ${name}, which steers a loader or interpreter: it is not passed on`,
    path: skill.path,
    field: 'env',
  }));
  return {
    env: Object.fromEntries(
      names.filter((name) => valueOf(name) !== '').map((name) => [name, valueOf(name)]),
    ),
    missing: names.filter((name) => valueOf(name) === ''),
    diagnostics,
  };
}
