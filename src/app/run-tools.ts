import type { Skill } from '../core/skill.ts';
import type { Tool } from '../core/tool.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { ownSkillReadFileTool } from '../tools/built-in/create-skills-read-file.ts';
import { skillsRunScriptTool } from '../tools/built-in/skills-run-script.ts';
import type { RunFolders } from './run-folders.ts';

/** What the tools of one run stand on. */
export type RunGround = Readonly<{
  skill: Skill;
  /** Files of the skill that can be run. */
  scripts: readonly string[];
  folders: RunFolders;
  sandbox: Sandbox;
  /** Checked by `skillEnvironment`. */
  env: Readonly<Record<string, string>>;
}>;

/** What the host offers one run, before its ceiling is drawn (T2). */
export function runTools({ skill, scripts, folders, sandbox, env }: RunGround): readonly Tool[] {
  const script = skillsRunScriptTool({
    skill,
    sandbox,
    ...folders,
    env,
    timeoutMs: skill.timeoutSeconds * 1_000,
  });
  return [ownSkillReadFileTool(skill), ...(scripts.length === 0 ? [] : [script])];
}
