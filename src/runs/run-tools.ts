import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { Skill } from '../core/skill.ts';
import type { Requester, Tool } from '../core/tool.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { ScriptPackages } from '../sandbox/packages/script-packages.ts';
import { readSkillFile, listSkillFiles } from '../skills/skill-files.ts';
import { bashTool } from '../tools/built-in/bash.ts';
import { ownSkillReadFileTool } from '../tools/built-in/skill-lookup.ts';
import { listFilesTool } from '../tools/built-in/list-files.ts';
import { readFileTool } from '../tools/built-in/read-file.ts';
import { sendFileTool } from '../tools/built-in/send-file.ts';
import { createSkillWritingTools, type SkillWriting } from '../authoring/skill-authoring.ts';
import { createRunScript, skillsRunScriptTool } from '../tools/built-in/skills-run-script.ts';
import { toolPackages } from '../tools/built-in/tool-packages.ts';
import { writeFileTool } from '../tools/built-in/write-file.ts';
import type { CapOf } from '../tools/built-in/command-answer.ts';
import { bashInList, bashKnowsEnv } from '../tools/allowed-tools.ts';
import type { ScriptGround } from '../tools/own-script.ts';
import { runScopes, type RunFolders } from '../tools/built-in/run-folders.ts';

/** What the tools of one run stand on. */
export type RunGround = Readonly<{
  skill: Skill;
  /** The list in force: the skill's, or its profile's. */
  allowed: readonly string[] | undefined;
  /** Where the skill has scripts. */
  scripts: ScriptGround | undefined;
  folders: RunFolders;
  sandbox: Sandbox;
  packages: ScriptPackages;
  /** Checked by `skillEnvironment`. */
  env: Readonly<Record<string, string>>;
  /** The operator's word on whether commands that the model writes get it, too (U3). */
  envInBash: boolean | undefined;
  /** What is said of `skills_run_script`: whether the ceiling has it, and whether policy is no stricter with it than with bash. */
  ofScripts: Readonly<{ inCeiling(): boolean; asFreely(requester: Requester): boolean }>;
  /** Bytes that a folder may hold. */
  quota: number;
  /** Offered to a skill that lists its tools by name, and to no other (D9). */
  writing: SkillWriting;
  /** The way to the internet (T3). */
  web: readonly Tool[];
  /** `skillet-cap` in its commands, where the skill has capabilities (C4). */
  cap?: CapOf;
}>;

/** What the host offers one run, before its ceiling is drawn (T2). */
export function runTools({
  skill,
  allowed,
  scripts,
  folders,
  sandbox,
  packages,
  env,
  envInBash,
  ofScripts,
  quota,
  writing,
  web,
  cap,
}: RunGround): readonly Tool[] {
  const { simple } = bashInList(allowed);
  const knowsEnv = bashKnowsEnv(skill.allowedTools, envInBash);
  const ground = {
    ...{ skill, sandbox, ...folders, timeoutMs: skill.timeoutSeconds * 1_000 },
    cap,
  };
  const ofScript = { ...ground, env, packages };
  const script = skillsRunScriptTool(ofScript);
  const bash = bashTool({
    ...ground,
    folders: [
      `${sandbox.seen('scratch', folders.scratch)} (of this run, the working directory)`,
      `${sandbox.seen('chat', folders.chat)} (kept for this conversation)`,
      ...(skill.directory === undefined
        ? []
        : [`${sandbox.seen('skill', skill.directory)} (this skill, read-only)`]),
    ],
    within: (work) => work(folders),
    simple: () => simple,
    env: knowsEnv ? env : {},
    packages: toolPackages({ skill, sandbox, packages }),
    // What skills call their scripts by in their instructions, run as this bot runs scripts.
    script:
      scripts === undefined
        ? undefined
        : {
            ground: scripts,
            run: createRunScript(ofScript),
            // No way round ceiling, policy or `env_in_bash` (T5, T8, U3).
            mayRun: (requester: Requester) =>
              (knowsEnv || Object.keys(env).length === 0 || ofScripts.inCeiling()) &&
              ofScripts.asFreely(requester),
          },
  });
  const places = runScopes(folders, skill, sandbox);
  const files = [
    readFileTool(places),
    writeFileTool(places, quota),
    listFilesTool(places),
    sendFileTool(places),
  ];
  const authoring = createSkillWritingTools(writing).filter(({ name }) => skill.allowedTools?.includes(name));
  return [
    ownSkillReadFileTool(skill),
    ...(scripts === undefined ? [] : [script]),
    bash,
    ...files,
    ...authoring,
    ...web,
  ];
}

/** What tells a command that starts the skill's own script; nothing for a skill without any. */
export function scriptGround(
  skill: Skill,
  { scratch }: RunFolders,
  sandbox: Pick<Sandbox, 'seen'>,
): ScriptGround | undefined {
  if (skill.directory === undefined || listSkillFiles(skill).scripts.length === 0) return undefined;
  return {
    seen: sandbox.seen('skill', skill.directory),
    read(file) {
      const script = readSkillFile(skill, file);
      return script.ok ? script.text : undefined;
    },
    hides: (name) => lstatSync(path.join(scratch, name), { throwIfNoEntry: false }) !== undefined,
  };
}
