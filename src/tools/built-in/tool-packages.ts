import type { Skill } from '../../core/skill.ts';
import { fetchedTools, fetchTools } from '../../sandbox/packages/fetched-tools.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { PackagedOutcome, ScriptPackages } from '../../sandbox/packages/script-packages.ts';
import { readSkillFile } from '../../skills/read-skill-file.ts';
import { packagesFor } from './packages-for.ts';

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
