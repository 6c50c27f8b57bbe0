import type { Skill } from '../core/skill.ts';
import type { Tool } from '../core/tool.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { ScriptPackages } from '../sandbox/script-packages.ts';
import { ownSkillReadFileTool } from '../tools/built-in/create-skills-read-file.ts';
import { createSkillWritingTools, type SkillWriting } from '../tools/built-in/skill-write.ts';
import { skillsRunScriptTool } from '../tools/built-in/skills-run-script.ts';
import type { RunFolders } from './run-folders.ts';

/** What the tools of one run stand on. */
export type RunGround = Readonly<{
  skill: Skill;
  /** Files of the skill that can be run. */
  scripts: readonly string[];
  folders: RunFolders;
  sandbox: Sandbox;
  packages: ScriptPackages;
  /** Checked by `skillEnvironment`. */
  env: Readonly<Record<string, string>>;
  /** Offered to a skill that lists its tools by name, and to no other (D9). */
  writing: SkillWriting;
  /** The way to the internet (T3). */
  web: readonly Tool[];
}>;

/** What the host offers one run, before its ceiling is drawn (T2). */
export function runTools({
  skill,
  scripts,
  folders,
  sandbox,
  packages,
  env,
  writing,
  web,
}: RunGround): readonly Tool[] {
  const script = skillsRunScriptTool({
    skill,
    sandbox,
    packages,
    ...folders,
    env,
    timeoutMs: skill.timeoutSeconds * 1_000,
  });
  const authoring = createSkillWritingTools(writing).filter(({ name }) => skill.allowedTools?.includes(name));
  return [ownSkillReadFileTool(skill), ...(scripts.length === 0 ? [] : [script]), ...authoring, ...web];
}
