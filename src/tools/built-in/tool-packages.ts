import { fail, type Envelope } from '../../core/envelope.ts';
import type { Skill } from '../../core/skill.ts';
import {
  fetchedTools,
  fetchTools,
  type PackagedOutcome,
  type ScriptPackages,
  type PackagedCommand,
} from '../../sandbox/packages/script-packages.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { hashSkill } from '../../skills/install/hash-skill.ts';
import { readSkillFile } from '../../skills/skill-files.ts';
import { tailsOf } from './command-answer.ts';

/** The tools of PyPI that a command calls, fetched; nothing for one that calls none. */
export type ToolPackages = (
  command: string,
  call: Readonly<{ scratch: string; signal: AbortSignal; onFetch(): void }>,
) => Promise<PackagedOutcome | undefined>;

/**
 * `uvx TOOL` in commands of a run (R7). Fetched is only what the SKILL.md calls in the same words: which packages are asked
 * of an index is the author's choice, not the model's, so that a command can neither run what somebody put there under a
 * likely name nor tell anything by the names it asks for (S7).
 */
export function toolPackages({
  skill,
  sandbox,
  packages,
}: Readonly<{ skill: Skill; sandbox: Sandbox; packages: ScriptPackages }>): ToolPackages {
  return async (command, call) => {
    const { directory } = skill;
    const called = fetchedTools(command);
    if (called.length === 0 || directory === undefined) return undefined;
    const text = readSkillFile(skill, 'SKILL.md');
    const named = new Set(text.ok ? fetchedTools(text.text).map((tool) => tool.join(' ')) : []);
    const tools = called.filter((tool) => named.has(tool.join(' ')));
    if (tools.length === 0) return undefined;
    return packagesFor(packages, {
      ...call,
      skill: { name: skill.name, directory },
      sandbox,
      fetch: fetchTools(tools),
    });
  };
}

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
