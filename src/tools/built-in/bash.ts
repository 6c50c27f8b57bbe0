import { z } from 'zod';
import { fail } from '../../core/envelope.ts';
import type { Skill } from '../../core/skill.ts';
import { oneLine } from '../../lib/text/text.ts';
import { defineTool, type Requester, type Tool } from '../../core/tool.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { ownScript, parseSimpleCommand, type ScriptGround } from '../own-script.ts';
import { reachesOutside, riskInSandbox } from '../policy.ts';
import type { RunFolders } from './run-folders.ts';
import { runCommand, type CapOf } from './run-command.ts';
import type { RunScript, ToolPackages } from './skills-run-script.ts';
import type { ToolRows } from '../../core/built-in-tools.ts';
import { fixed } from '../../core/texts/say.ts';

/** How people see the tool and who is offered it (T2, T5). */
export const bashRows = {
  bash: {
    icon: '💻',
    title: fixed`Commands`,
    says: fixed`Runs commands in the sandbox.`,
    doing: fixed`running a command`,
    risk: 'sandbox',
    main: 'named',
    runs: 'default',
    writes: 'here',
  },
} satisfies ToolRows;

const input = z.object({ command: z.string().min(1) });

/** How many bytes a command may have; Linux allows 128 KiB for an argument. */
const commandLimit = 100_000;

/**
 * `bash {command}` in the sandbox (T4). If `simple`, it runs one command without a shell (T5). A command that only
 * starts a script of the skill is run by `script`.
 */
export function bashTool(options: {
  /** Undefined for the main agent, whose commands have no network. */
  skill?: Skill;
  place: Readonly<{
    sandbox: Sandbox;
    /** Descriptions of the folders for the model. */
    folders: readonly string[];
    /** Runs a command in folders that exist. */
    within<Outcome>(work: (folders: RunFolders) => Promise<Outcome>): Promise<Outcome>;
  }>;
  env: Readonly<Record<string, string>>;
  simple(): boolean;
  timeoutMs: number;
  cap?: CapOf;
  packages?: ToolPackages;
  script?: Readonly<{
    ground: ScriptGround;
    run: RunScript;
    /** Whether `skills_run_script` is allowed to this requester. */
    mayRun(requester: Requester): boolean;
  }>;
}): Tool {
  const { skill, env, simple, timeoutMs, cap, packages, script } = options;
  const { sandbox, folders, within } = options.place;
  const network = skill?.network ?? [];
  const reach = { mode: sandbox.mode, reachesNetwork: sandbox.reachesNetwork && network.length > 0 };
  return defineTool({
    name: 'bash',
    row: bashRows.bash,
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
      return within(async ({ scratch, chat }) => {
        const onFetch = (): void => progress(`fetching the packages of ${said}`);
        const packaged = await packages?.(command, { scratch, signal, onFetch });
        if (packaged?.ok !== false) progress(`running ${said}`);
        return runCommand(
          { what: 'the command', argv: [program, ...rest], packaged, skill, env },
          { scratch, chat, timeoutMs, cap: cap?.(context), signal },
          sandbox,
        );
      });
    },
  });
}
