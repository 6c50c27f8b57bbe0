import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { Skill } from '../core/skill.ts';
import type { Tool } from '../core/tool.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { ScriptPackages } from '../sandbox/script-packages.ts';
import { readSkillFile } from '../skills/read-skill-file.ts';
import { bashTool } from '../tools/built-in/bash.ts';
import { ownSkillReadFileTool } from '../tools/built-in/create-skills-read-file.ts';
import { listFilesTool } from '../tools/built-in/list-files.ts';
import { readFileTool } from '../tools/built-in/read-file.ts';
import { sendFileTool } from '../tools/built-in/send-file.ts';
import { createSkillWritingTools, type SkillWriting } from '../tools/built-in/skill-write.ts';
import { skillsRunScriptTool } from '../tools/built-in/skills-run-script.ts';
import { writeFileTool } from '../tools/built-in/write-file.ts';
import { bashInList } from '../tools/ceiling.ts';
import type { ScriptGround } from '../tools/own-script.ts';
import { runPlaces, type RunFolders } from './run-folders.ts';

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
  /** The operator's word on whether commands that the model writes get it, too (U3). */
  envInBash: boolean | undefined;
  /** Bytes that a folder may hold. */
  quota: number;
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
  envInBash,
  quota,
  writing,
  web,
}: RunGround): readonly Tool[] {
  const { named, simple } = bashInList(skill.allowedTools);
  const ground = { skill, sandbox, ...folders, timeoutMs: skill.timeoutSeconds * 1_000 };
  const script = skillsRunScriptTool({ ...ground, env, packages });
  const bash = bashTool({
    ...ground,
    simple,
    env: (envInBash ?? named) ? env : {},
    // What skills call their scripts by in their instructions, run as this bot runs scripts.
    ...(skill.directory === undefined || scripts.length === 0
      ? {}
      : { script: { ground: scriptGround(skill, skill.directory, folders, sandbox), tool: script } }),
  });
  const places = runPlaces(folders, skill, sandbox);
  const files = [
    readFileTool(places),
    writeFileTool(places, quota),
    listFilesTool(places),
    sendFileTool(places),
  ];
  const authoring = createSkillWritingTools(writing).filter(({ name }) => skill.allowedTools?.includes(name));
  return [
    ownSkillReadFileTool(skill),
    ...(scripts.length === 0 ? [] : [script]),
    bash,
    ...files,
    ...authoring,
    ...web,
  ];
}

function scriptGround(
  skill: Skill,
  directory: string,
  { scratch }: RunFolders,
  sandbox: Sandbox,
): ScriptGround {
  return {
    seen: sandbox.seen('skill', directory),
    read(file) {
      const script = readSkillFile(skill, file);
      return script.ok ? script.text : undefined;
    },
    hides: (name) => lstatSync(path.join(scratch, name), { throwIfNoEntry: false }) !== undefined,
  };
}
