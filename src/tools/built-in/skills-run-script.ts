import { z } from 'zod';
import { fail, type Envelope } from '../../core/envelope.ts';
import type { Skill } from '../../core/skill.ts';
import { defineTool, type Tool, type ToolContext } from '../../core/tool.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { scriptCommand, type ScriptCommand } from '../../sandbox/script-command.ts';
import type { PackagedOutcome, ScriptPackages } from '../../sandbox/packages/script-packages.ts';
import { readSkillFile } from '../../skills/skill-files.ts';
import { reachesOutside, riskInSandbox } from '../policy.ts';
import { answerCommand, commandOutputLimit, secretsIn, type CapOf } from './command-answer.ts';
import { packagesFor, unpackaged } from './tool-packages.ts';

/** Bytes of an argument: Linux takes none of more than 128 KiB. */
const argumentLimit = 100_000;

/** A file of the skill that is to be run, by its path in there. */
export type RunScript = (
  script: Readonly<{ path: string; args: readonly string[] }>,
  context: Pick<ToolContext, 'signal' | 'progress' | 'toolUseId' | 'mark'>,
) => Promise<Envelope>;

/** `chat` is the conversation's folder, `scratch` the run's: both exist already. `env` is what `skillEnvironment` gave. */
export type RunScriptOptions = Readonly<{
  skill: Skill;
  sandbox: Sandbox;
  scratch: string;
  chat?: string;
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  packages: ScriptPackages;
  /** Where the skill has capabilities. */
  cap?: CapOf;
}>;

const input = z.object({
  path: z.string().describe('relative to the skill, such as scripts/run.sh'),
  args: z.array(z.string()).max(1_000).default([]),
});

/** `skills_run_script {path, args}` in a run: a file of its own skill, in the sandbox, with the skill's environment (R5). */
export function skillsRunScriptTool(options: RunScriptOptions): Tool {
  const { skill, sandbox } = options;
  const reach = { mode: sandbox.mode, reachesNetwork: sandbox.reachesNetwork && skill.network.length > 0 };
  return defineTool({
    name: 'skills_run_script',
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

/** What `skills_run_script` does, for a call that passed the door under another name: `bash` of such a script. */
export function createRunScript({
  skill,
  sandbox,
  scratch,
  chat,
  env,
  timeoutMs,
  packages,
  cap,
}: RunScriptOptions): RunScript {
  return async ({ path, args }, context) => {
    const { signal, progress } = context;
    const script = readSkillFile(skill, path);
    if (!script.ok) return fail(script.code, script.message);
    if (skill.directory === undefined) return fail('FILE_NOT_FOUND', `${skill.name} has no files`);
    const command = scriptCommand(path, script.text);
    if (command === undefined) {
      return fail(
        'ARGUMENTS_INVALID',
        `${path} can't be run: it has no #! line and does not end in .sh, .py, .js, .mjs or .ts`,
      );
    }
    if (args.some((each) => each.includes('\0'))) return fail('ARGUMENTS_INVALID', 'an argument holds a NUL');
    if (args.some((each) => Buffer.byteLength(each) > argumentLimit))
      return fail(
        'ARGUMENTS_INVALID',
        `an argument has more than ${argumentLimit} bytes: put it into a file with write_file and name that`,
      );
    const place = `${sandbox.seen('skill', skill.directory)}/${path}`;
    const packaged = await packagesOf(command, {
      path,
      place,
      directory: skill.directory,
      signal,
      progress,
    });
    if (packaged !== undefined && !packaged.ok) return unpackaged(path, packaged);
    progress(`running ${path}`);
    const argv = [command.program, ...command.options, place, ...args] as const;
    const outcome = await sandbox.run({
      argv: packaged?.wrap(argv) ?? argv,
      ...packaged?.request,
      skillDirectory: skill.directory,
      scratch,
      chat,
      network: skill.network,
      cap: cap === undefined ? undefined : cap(context),
      env: { ...env, ...packaged?.env },
      secrets: secretsIn(env),
      timeoutMs,
      outputCap: commandOutputLimit,
      signal,
    });
    return answerCommand(path, outcome, timeoutMs, skill);
  };

  /** What a script that lists its packages needs to have them (R7); nothing for any other. */
  async function packagesOf(
    { fetch }: ScriptCommand,
    at: Readonly<{ path: string; place: string; directory: string; signal: AbortSignal }> &
      Pick<ToolContext, 'progress'>,
  ): Promise<PackagedOutcome | undefined> {
    if (fetch === undefined) return undefined;
    return packagesFor(packages, {
      skill: { name: skill.name, directory: at.directory },
      sandbox,
      scratch,
      fetch: fetch.takesScript ? [...fetch.argv, at.place] : fetch.argv,
      signal: at.signal,
      onFetch: () => at.progress(`fetching the packages of ${at.path}`),
    });
  }
}
