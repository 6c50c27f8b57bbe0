import { z } from 'zod';
import { fail, type Envelope } from '../../core/envelope.ts';
import type { Skill } from '../../core/skill.ts';
import { defineTool, type Tool, type ToolContext } from '../../core/tool.ts';
import {
  fetchedTools,
  fetchTools,
  type PackagedCommand,
  type PackagedOutcome,
  type ScriptPackages,
} from '../../sandbox/packages/script-packages.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { scriptCommand, type ScriptCommand } from '../../sandbox/script-command.ts';
import { hashSkill } from '../../skills/install/hash-skill.ts';
import { readSkillFile } from '../../skills/skill-files.ts';
import { reachesOutside, riskInSandbox } from '../policy.ts';
import { runCommand, type CapOf } from './run-command.ts';
import type { ToolRows } from '../../core/built-in-tools.ts';
import { fixed } from '../../core/texts/say.ts';

/** How people see the tool and who is offered it (T2, T5). */
export const runScriptRows = {
  skills_run_script: {
    icon: '⚙️',
    title: fixed`Scripts of a skill`,
    says: fixed`Runs a script that belongs to the skill, in the sandbox.`,
    doing: fixed`running a script`,
    risk: 'sandbox',
    runs: 'default',
    ofSkills: true,
    writes: 'here',
  },
} satisfies ToolRows;

/** How many bytes an argument may have; Linux allows 128 KiB. */
const argumentLimit = 100_000;

/** Runs a script of the skill. `path` is relative to the skill's folder. */
export type RunScript = (
  script: Readonly<{ path: string; args: readonly string[] }>,
  context: ToolContext,
) => Promise<Envelope>;

/** `chat` and `scratch` must exist; `env` comes from `skillEnvironment`. */
type RunScriptOptions = Readonly<{
  skill: Skill;
  sandbox: Sandbox;
  scratch: string;
  chat?: string;
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  packages: ScriptPackages;
  cap?: CapOf;
}>;

const input = z.object({
  path: z.string().describe('relative to the skill, such as scripts/run.sh'),
  args: z.array(z.string()).max(1_000).default([]),
});

/** `skills_run_script {path, args}` for a run: runs a file of its own skill in the sandbox (R5). */
export function skillsRunScriptTool(options: RunScriptOptions): Tool {
  const { skill, sandbox } = options;
  const reach = { mode: sandbox.mode, reachesNetwork: sandbox.reachesNetwork && skill.network.length > 0 };
  return defineTool({
    name: 'skills_run_script',
    row: runScriptRows.skills_run_script,
    description: 'Runs a script of this skill and returns its output.',
    input,
    traits: {
      sideEffects: true,
      idempotent: false,
      requiresNetwork: reachesOutside(reach),
      requiresFilesystem: true,
    },
    risk: riskInSandbox(reach),
    run: createRunScript(options),
  });
}

/** Runs scripts for the tool, and for `bash` calls that only start a script. */
export function createRunScript(options: RunScriptOptions): RunScript {
  const { skill, sandbox, scratch, chat, env, timeoutMs, cap } = options;
  return async ({ path, args }, context) => {
    const { signal, progress } = context;
    const script = readSkillFile(skill, path);
    if (!script.ok) return fail(script.code, script.message);
    const { directory } = skill;
    if (directory === undefined) return fail('FILE_NOT_FOUND', `${skill.name} has no files`);
    const command = scriptCommand(path, script.text);
    const problem = command === undefined ? notRunnable(path) : problemOf(args);
    if (command === undefined || problem !== undefined) return fail('ARGUMENTS_INVALID', problem ?? '');
    const place = `${sandbox.seen('skill', directory)}/${path}`;
    const packaged = await packagesOf(command, { path, place, directory, signal, progress }, options);
    if (packaged?.ok !== false) progress(`running ${path}`);
    const argv = [command.program, ...command.options, place, ...args] as const;
    return runCommand(
      { what: path, argv, packaged, skill, env },
      { scratch, chat, timeoutMs, cap: cap?.(context), signal },
      sandbox,
    );
  };
}

function notRunnable(path: string): string {
  return `${path} can't be run: it has no #! line and does not end in .sh, .py, .js, .mjs or .ts`;
}

function problemOf(args: readonly string[]): string | undefined {
  if (args.some((each) => each.includes('\0'))) return 'an argument holds a NUL';
  if (args.some((each) => Buffer.byteLength(each) > argumentLimit))
    return `an argument has more than ${argumentLimit} bytes: put it into a file with write_file and name that`;
  return undefined;
}

/** Fetches the packages that a script lists. Undefined if it lists none (R7). */
async function packagesOf(
  { fetch }: ScriptCommand,
  at: Readonly<{ path: string; place: string; directory: string }> & Pick<ToolContext, 'signal' | 'progress'>,
  { skill, sandbox, scratch, packages }: RunScriptOptions,
): Promise<PackagedOutcome | undefined> {
  if (fetch === undefined) return undefined;
  return packagesFor(packages, {
    skill: { name: skill.name, directory: at.directory },
    sandbox,
    scratch,
    lists: fetch.lists,
    fetch: fetch.takesScript ? [...fetch.argv, at.place] : fetch.argv,
    signal: at.signal,
    onFetch: () => at.progress(`fetching the packages of ${at.path}`),
  });
}

async function packagesFor(
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

/** Fetches the PyPI tools that a command calls. Undefined if it calls none. */
export type ToolPackages = (
  command: string,
  call: Readonly<{ scratch: string; signal: AbortSignal; onFetch(): void }>,
) => Promise<PackagedOutcome | undefined>;

/**
 * Fetches what `uvx` and `uv run --with` take from PyPI, but only if SKILL.md calls them in the same words (R7). So the
 * author chooses packages, not the model, which could be talked into look-alikes or into names that leak data (S7).
 */
export function toolPackages({
  skill,
  sandbox,
  packages,
}: Readonly<{ skill: Skill; sandbox: Sandbox; packages: ScriptPackages }>): ToolPackages {
  return async (command, call) => {
    const { name, directory } = skill;
    const called = fetchedTools(command);
    if (called.length === 0 || directory === undefined) return undefined;
    const text = readSkillFile(skill, 'SKILL.md');
    const named = new Set(text.ok ? fetchedTools(text.text).map((tool) => tool.join(' ')) : []);
    const tools = called.filter((tool) => named.has(tool.join(' ')));
    if (tools.length === 0) return undefined;
    const found = { ...call, skill: { name, directory }, sandbox, lists: [], fetch: fetchTools(tools) };
    const packaged = await packagesFor(packages, found);
    return packaged.ok ? { ...packaged, env: { ...packaged.env, UV_OFFLINE: '1' } } : packaged;
  };
}
