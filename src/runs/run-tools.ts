import type { Folders } from '../folders/folders.ts';
import type { Skill } from '../core/skill.ts';
import { risks, type Requester, type Tool } from '../core/tool.ts';
import { isHiddenEntry } from '../sandbox/own-entries.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { ScriptPackages } from '../sandbox/packages/script-packages.ts';
import { readSkillFile, listSkillFiles } from '../skills/skill-files.ts';
import { bashTool } from '../tools/built-in/bash.ts';
import { ownSkillReadFileTool } from '../tools/built-in/skill-lookup.ts';
import { listFilesTool, readFileTool, writeFileTool } from '../tools/built-in/file-tools.ts';
import { sendFileTool } from '../tools/built-in/send-file.ts';
import { grepFilesTool } from '../tools/built-in/grep-files.ts';
import { createRunScript, skillsRunScriptTool, toolPackages } from '../tools/built-in/skills-run-script.ts';
import type { CapOf } from '../tools/built-in/run-command.ts';
import { allowsSimpleOnly } from '../tools/allowed-tools.ts';
import type { ScriptGround } from '../tools/own-script.ts';
import { decidePolicy } from '../tools/policy.ts';
import { inFolders } from '../tools/in-folders.ts';
import { namesOfRun, runScopes, type RunFolders } from '../tools/built-in/run-folders.ts';
import type { App } from '../app.ts';

type RunGround = Readonly<{
  skill: Skill;
  folders: RunFolders;
  /** Keeps `folders` up to date with the store. */
  working: Folders;
  sandbox: Sandbox;
  scripts: ScriptGround | undefined;
}>;

/** The run's tools that start no programs (T2). */
export function plainRunTools({
  skill,
  folders,
  working,
  sandbox,
  quota,
  maxBytes,
}: Omit<RunGround, 'scripts'> & Readonly<{ quota: number; maxBytes: number }>): readonly Tool[] {
  const places = runScopes(folders, skill, sandbox);
  return [
    ownSkillReadFileTool(skill, maxBytes),
    ...[
      readFileTool(places),
      writeFileTool(places, quota),
      listFilesTool(places),
      grepFilesTool(places),
      sendFileTool(places),
    ].map((tool) => inFolders(tool, { names: namesOfRun(folders), places, folders: working })),
  ];
}

export function namesOfCommandTools({ scripts }: Pick<RunGround, 'scripts'>): readonly string[] {
  return scripts === undefined ? ['bash'] : ['skills_run_script', 'bash'];
}

export function commandTools({
  allowed,
  packages,
  env,
  envInBash,
  mayRunScripts,
  cap,
  ...ground
}: RunGround &
  Readonly<{
    /** The tools that the skill's list allows, or its profile's. Undefined: no list. */
    allowed: readonly string[] | undefined;
    packages: ScriptPackages;
    env: Readonly<Record<string, string>>;
    /** False if the operator gives `env` only to the skill's own scripts (U3). */
    envInBash: boolean;
    mayRunScripts: Readonly<{ inAllowedTools: boolean; asFreely(requester: Requester): boolean }>;
    /** Serves `skillet-cap` to commands. Undefined if the skill has no capabilities (C4). */
    cap?: CapOf;
  }>): readonly Tool[] {
  const { skill, sandbox, folders, scripts } = ground;
  const simple = allowsSimpleOnly(allowed);
  const start = { skill, timeoutMs: skill.timeoutSeconds * 1_000, cap };
  const ofScript = { ...start, sandbox, ...folders, env, packages };
  const bash = bashTool({
    ...start,
    place: {
      sandbox,
      folders: [
        `${sandbox.seen('scratch', folders.scratch)} (of this run, the working directory)`,
        `${sandbox.seen('chat', folders.chat)} (kept for this conversation)`,
        ...(skill.directory === undefined
          ? []
          : [`${sandbox.seen('skill', skill.directory)} (this skill, read-only)`]),
      ],
      within: (work) => work(folders),
    },
    simple: () => simple,
    env: envInBash ? env : {},
    packages: toolPackages({ skill, sandbox, packages }),
    // Instructions call scripts by their path, as shell commands.
    script: scripts && {
      ground: scripts,
      run: createRunScript(ofScript),
      // A path must not get around the tool list, the policy or `env_in_bash` (T5, T8, U3).
      mayRun: (requester: Requester) =>
        (envInBash || Object.keys(env).length === 0 || mayRunScripts.inAllowedTools) &&
        mayRunScripts.asFreely(requester),
    },
  });
  const tools = scripts === undefined ? [bash] : [skillsRunScriptTool(ofScript), bash];
  const places = runScopes(folders, skill, sandbox);
  return tools.map((tool) =>
    inFolders(tool, { names: namesOfRun(folders), places, folders: ground.working }),
  );
}

export function scriptGround(
  skill: Skill,
  { scratch }: RunFolders,
  sandbox: Sandbox,
): ScriptGround | undefined {
  if (skill.directory === undefined || listSkillFiles(skill).scripts.length === 0) return undefined;
  return {
    seen: sandbox.seen('skill', skill.directory),
    read(file) {
      const script = readSkillFile(skill, file);
      return script.ok ? script.text : undefined;
    },
    hides: (file) => isHiddenEntry(scratch, file),
  };
}

/** Whether the policy is at least as lenient with a skill's scripts as with `bash`, at every risk (T5, T8). */
export function runsScriptsAsFreely(skill: Skill, requester: Requester, { runtime }: App): boolean {
  const { policy } = runtime().config;
  return risks.every((risk) => {
    const [script, bash] = ['skills_run_script', 'bash'].map(
      (tool) => decidePolicy(policy, { skill: skill.name, requester, tool, risk, marked: false }).action,
    );
    return script === bash || script === 'allow' || bash === 'deny';
  });
}
