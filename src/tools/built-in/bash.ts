import { z } from 'zod';
import { fail } from '../../core/envelope.ts';
import type { Skill } from '../../core/skill.ts';
import { oneLine } from '../../lib/text/text.ts';
import { defineTool, type Requester, type Tool } from '../../core/tool.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { ownScript, parseSimpleCommand, type ScriptGround } from '../own-script.ts';
import { reachesOutside, riskInSandbox } from '../policy.ts';
import type { RunScript } from './skills-run-script.ts';
import { answerCommand, commandOutputLimit, secretsIn, type CapOf } from './command-answer.ts';
import { unpackaged, type ToolPackages } from './tool-packages.ts';

const input = z.object({ command: z.string().min(1) });

/** Bytes of a command: Linux takes no argument of more than 128 KiB. */
const commandLimit = 100_000;

/** Folders of the host for one command; both exist already. */
export type CommandFolders = Readonly<{ scratch: string; chat: string }>;

/**
 * `bash {command}`: a command that the model writes, in the sandbox (T4). With `simple` it is one command without a shell,
 * its words an argument vector (T5). `env` is what may be known to such a command (U3). A command that only starts a script
 * of the skill is carried out by `script`, `skills_run_script`, where that is given.
 */
export function bashTool(options: {
  /** Whose run it is; absent for the main agent, whose commands reach no network. */
  skill?: Pick<Skill, 'name' | 'directory' | 'network'>;
  sandbox: Sandbox;
  /** What the model is told of the folders. */
  folders: readonly string[];
  /** Runs a command in its folders. */
  within<Outcome>(work: (folders: CommandFolders) => Promise<Outcome>): Promise<Outcome>;
  env: Readonly<Record<string, string>>;
  simple(): boolean;
  timeoutMs: number;
  /** Where the skill has capabilities. */
  cap?: CapOf;
  /** Has the tools fetched that a command calls by `uvx` and the skill's own text does, too (R7). */
  packages?: ToolPackages;
  script?: Readonly<{
    ground: ScriptGround;
    run: RunScript;
    /** Whether this call might as well have been one of that tool. */
    mayRun(requester: Requester): boolean;
  }>;
}): Tool {
  const { skill, sandbox, folders, within, env, simple, timeoutMs, cap, packages, script } = options;
  const network = skill?.network ?? [];
  const reach = { mode: sandbox.mode, reachesNetwork: sandbox.reachesNetwork && network.length > 0 };
  return defineTool({
    name: 'bash',
    description: `Runs ${simple() ? 'one simple command' : 'a shell command'} in a sandbox. Folders: ${folders.join(', ')}.`,
    input,
    traits: {
      sideEffects: true,
      idempotent: false,
      requiresNetwork: reachesOutside(reach),
      requiresFilesystem: true,
    },
    risk: riskInSandbox(reach),
    async run({ command }, context) {
      const { signal, progress } = context;
      if (command.includes('\0')) return fail('ARGUMENTS_INVALID', 'the command holds a NUL');
      const size = Buffer.byteLength(command);
      if (size > commandLimit)
        return fail(
          'ARGUMENTS_INVALID',
          `the command has ${size} bytes and at most ${commandLimit} are taken: put it into a file with write_file and run that`,
        );
      if (script?.mayRun(context.requester) === true) {
        const own = ownScript(command, script.ground);
        if (own !== undefined) return script.run(own, context);
      }
      const words = simple() ? parseSimpleCommand(command) : ['sh', '-c', command];
      const [program, ...rest] = words ?? [];
      if (program === undefined)
        return fail(
          'ARGUMENTS_INVALID',
          'that is no simple command: one program and its arguments, no operators, expansions or line ends',
        );
      const said = oneLine(command, 60);
      return within(async (ground) => {
        const packaged = await packages?.(command, {
          scratch: ground.scratch,
          signal,
          onFetch: () => progress(`fetching the packages of ${said}`),
        });
        if (packaged?.ok === false) return unpackaged('the command', packaged);
        progress(`running ${said}`);
        const argv = [program, ...rest] as const;
        const outcome = await sandbox.run({
          argv: packaged?.wrap(argv) ?? argv,
          ...packaged?.request,
          skillDirectory: skill?.directory === undefined ? undefined : skill.directory,
          ...ground,
          network,
          cap: cap === undefined ? undefined : cap(context),
          env: packaged === undefined ? env : { ...env, ...packaged.env, UV_OFFLINE: '1' },
          secrets: secretsIn(env),
          timeoutMs,
          outputCap: commandOutputLimit,
          signal,
        });
        return answerCommand('the command', outcome, timeoutMs, skill);
      });
    },
  });
}
