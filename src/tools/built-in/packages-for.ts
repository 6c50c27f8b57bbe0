import { fail, type Envelope } from '../../core/envelope.ts';
import type { Skill } from '../../core/skill.ts';
import type {
  PackagedCommand,
  PackagedOutcome,
  ScriptPackages,
} from '../../sandbox/packages/script-packages.ts';
import { hashSkill } from '../../skills/install/hash-skill.ts';
import { tailsOf } from './command-answer.ts';

/** Has the packages of a skill's command fetched, for this content of the skill (R7). */
export async function packagesFor(
  packages: ScriptPackages,
  {
    skill: { name, directory },
    ...command
  }: Omit<PackagedCommand, 'content' | 'skillDirectory'> &
    Readonly<{ skill: Pick<Skill, 'name'> & Readonly<{ directory: string }> }>,
): Promise<PackagedOutcome> {
  const hashed = hashSkill(directory);
  if (hashed === undefined)
    return { ok: false, status: 'absent', message: 'the skill is too large for that' };
  return packages({ ...command, content: `${name} ${hashed.hash}`, skillDirectory: directory });
}

/** Why a command without its packages is not run; `what` is what messages call it. */
export function unpackaged(what: string, packaged: Exclude<PackagedOutcome, { ok: true }>): Envelope {
  if (packaged.status === 'absent') return fail('SKILL_UNAVAILABLE', `${what}: ${packaged.message}`);
  const { outcome } = packaged;
  if (outcome.status === 'unavailable') return fail('SKILL_UNAVAILABLE', `${what}: ${outcome.message}`);
  if (outcome.status === 'stopped' && outcome.reason === 'cancelled')
    return fail('CANCELLED', `${what} was stopped`);
  return fail(
    'SCRIPT_FAILED',
    `the packages of ${what} could not be fetched; they may come from [sandbox] package_hosts only`,
    tailsOf(outcome),
  );
}
