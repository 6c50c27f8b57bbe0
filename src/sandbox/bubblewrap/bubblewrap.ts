import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { OperatorError } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import { createDeadline } from '../../lib/async/deadline.ts';
import { killNamespace } from '../../lib/processes/kill-processes.ts';
import {
  bubblewrapArguments,
  createHandedFiles,
  systemMounts,
  type SystemMounts,
} from './bubblewrap-arguments.ts';
import {
  findProgram,
  hasProgram,
  nodeSeen,
  ownPrograms,
  sandboxEnvironment,
  searchedFolders,
} from '../inside-sandbox.ts';
import { handshakeByDescriptor, type Handshake } from '../limits/handshake.ts';
import { whyUnmeasurable } from '../limits/measurable.ts';
import { openCommandGroups, type CommandGroup, type CommandGroups } from '../limits/kernel-limits.ts';
import {
  createRunner,
  firstFile,
  runLimited,
  runOnTerminal,
  secondsForPerson,
  type HostCommand,
} from '../limits/run-limited.ts';
import { openCapabilitySocket } from '../open-capability-socket.ts';
import { placeEntries } from '../own-entries.ts';
import { openEgressProxy, type EgressProxyOptions } from '../open-egress-proxy.ts';
import { installProgram } from '../packages/debian-packages.ts';
import {
  capPrograms,
  pausing,
  type Sandbox,
  type SandboxCommand,
  type SandboxLimits,
  type SandboxOutcome,
  type SandboxOutput,
  type SandboxRequest,
  type ServeCap,
  type ShellEnd,
  type ShellRequest,
} from '../sandbox.ts';
import { shellCommand, terminalEnvironment } from '../script-command.ts';

type BubblewrapOptions = Readonly<{
  bwrap: string;
  limits: SandboxLimits;
  /** The root file system, read at each command because it may be rebuilt (R6). */
  rootfs?: () => string | undefined;
  hidden?: readonly string[];
  wayOut?: EgressProxyOptions;
  groups?: CommandGroups;
}>;

/**
 * Runs commands in Linux namespaces (T9): an empty root with the system and skill read-only, scratch and conversation
 * folder. No descriptor, variable or terminal of the host gets in. All processes end with their command, and with the
 * bot.
 */
export function createBubblewrapSandbox({
  bwrap,
  limits,
  rootfs,
  hidden = [],
  wayOut: proxyOptions,
  groups = openCommandGroups(),
}: BubblewrapOptions): Sandbox {
  const systemNow = followSystem(rootfs);
  const runner = createRunner();
  const handed = createHandedFiles(firstFile, { counted: groups.ok });

  return {
    mode: 'bubblewrap',
    limits: groups.ok ? byKernel : `${watched} (${groups.why})`,
    reachesNetwork: true,
    seen: (folder) => `/${folder}`,
    async run(request) {
      const [program] = request.argv;
      const system = systemNow();
      const python = pythonOf(system);
      if (
        !lentPrograms(request, python).includes(program) &&
        !hasProgram(system.root, searchedFolders, program)
      )
        return missing(program, system);
      return runner.track(runInside(request, system, python).catch(unavailableHere));
    },
    shell: openShell,
    async close() {
      await runner.close();
      handed.close();
    },
  };

  async function runInside(
    request: SandboxRequest,
    system: SystemMounts,
    python: string | undefined,
  ): Promise<SandboxOutcome> {
    const deadline = createDeadline(systemClock);
    const { started, refused, result } = await withCommand(
      { ...request, ...pausing(request.cap, deadline) },
      { system, python, limits, session: 'new' },
      (command, handshake, met) =>
        runLimited(command, request, { limits, runner, kill: killNamespace, handshake, deadline, ...met }),
    );
    if (result.status === 'exited' && !started)
      throw new Error(`bubblewrap ended with exit code ${result.exitCode}: ${result.stderr.trim()}`);
    return { ...result, ...refused };
  }

  async function openShell(request: ShellRequest): Promise<ShellEnd> {
    const system = systemNow();
    const forPerson = { ...limits, cpuSeconds: secondsForPerson };
    // Without the filter a command could type on a shared terminal, so there is no job control.
    const session = handed.filters ? 'kept' : 'new';
    const { result } = await withCommand(
      { ...request, argv: shellCommand },
      { system, python: pythonOf(system), limits: forPerson, session },
      (command, handshake, met) =>
        runOnTerminal({ ...command, env: { ...command.env, ...terminalEnvironment() } }, request, {
          limits: forPerson,
          runner,
          kill: killNamespace,
          handshake,
          ...met,
        }),
    );
    return result;
  }

  async function withCommand<Result>(
    request: ShellRequest & SandboxCommand & Readonly<{ cap?: ServeCap }>,
    how: CommandSetup,
    use: (
      command: HostCommand,
      handshake: Handshake,
      met: Partial<Pick<CommandGroup, 'met'>>,
    ) => Promise<Result>,
  ): Promise<Readonly<{ started: boolean; refused: Pick<SandboxOutput, 'refused'>; result: Result }>> {
    const { system, python, session } = how;
    const { network, env, cap } = request;
    const capSocket =
      cap === undefined
        ? undefined
        : await openCapabilitySocket(cap, { node: nodeSeen, programs: ownPrograms });
    const proxy = network.length === 0 ? undefined : await openEgressProxy(network, nodeSeen, proxyOptions);
    const settings = handed.open(system.settings);
    const group = groups.ok ? groups.open(limits) : undefined;
    const own = placeEntries(request, 'point');
    let started = false;
    try {
      const { options, started: inside } = bubblewrapArguments(request, how.limits, {
        system: [...system.args, ...system.cover(hidden), ...settings.args],
        more: [
          ...(python === undefined ? [] : ['--symlink', python, pythonSeen]),
          ...[...(proxy?.mounts ?? []), ...(capSocket?.mounts ?? [])].flatMap(({ source, target }) => [
            '--ro-bind',
            source,
            target,
          ]),
        ],
        before: proxy?.argv ?? [],
        own: own.mounts,
        session,
      });
      const { number, files } = settings.withOptions(options);
      const result = await use(
        {
          argv: [bwrap, '--args', number, '--', ...inside],
          env: { ...sandboxEnvironment(env, request), ...proxy?.env },
          files,
        },
        handshakeByDescriptor(() => {
          started = true;
          proxy?.started();
          capSocket?.started();
        }, group),
        group === undefined ? {} : { met: group.met },
      );
      return { started, refused: proxy === undefined ? {} : { refused: proxy.refused() }, result };
    } finally {
      own.remove();
      settings.close();
      group?.close();
      await proxy?.close();
      await capSocket?.close();
    }
  }
}

/** What one command runs with. */
type CommandSetup = Readonly<{
  system: SystemMounts;
  /** Path of python3 where the name `python` has to lead to it; undefined if nothing has to. */
  python: string | undefined;
  limits: SandboxLimits;
  session: 'new' | 'kept';
}>;

const byKernel = 'the kernel enforces memory and the number of processes, the bot watches the others';
const watched = 'the bot checks them from time to time, the kernel enforces none: see docs/how-to/sandbox.md';

/** Public skills call `python`, and some systems have only python3. */
const pythonSeen = `${ownPrograms}/python`;

function pythonOf({ root }: SystemMounts): string | undefined {
  if (hasProgram(root, searchedFolders, 'python')) return undefined;
  const folder = searchedFolders.find((each) => hasProgram(root, [each], 'python3'));
  return folder === undefined ? undefined : path.posix.join(folder, 'python3');
}

/** Programs that the bot adds to what the system has. */
function lentPrograms({ cap, programs = [] }: SandboxRequest, python: string | undefined): readonly string[] {
  return [
    'node',
    ...(python === undefined ? [] : ['python']),
    ...(cap === undefined ? [] : capPrograms),
    ...programs.map((file) => path.basename(file)),
  ];
}

function followSystem(rootfs: BubblewrapOptions['rootfs']): () => SystemMounts {
  let seen: Readonly<{ rootfs: string | undefined; mounts: SystemMounts }> | undefined;
  return () => {
    const now = rootfs?.();
    if (seen === undefined || seen.rootfs !== now) seen = { rootfs: now, mounts: systemMounts(now) };
    return seen.mounts;
  };
}

function missing(program: string, { root }: SystemMounts): SandboxOutcome {
  const fix = installProgram(program, root === '/' ? 'host' : 'root');
  return { status: 'unavailable', message: `${program} is not there in the sandbox: ${fix}` };
}

/** A command is not to blame for what this machine can do for no command. */
function unavailableHere(error: unknown): SandboxOutcome {
  if (error instanceof OperatorError) return { status: 'unavailable', message: error.message };
  throw error;
}

type BubblewrapProbe =
  | Readonly<{ ok: true; bwrap: string }>
  | Readonly<{ ok: false; /** A sentence with the fix. */ why: string }>;

const install = 'apt-get install bubblewrap';

/** Tries the sandbox that commands get, because namespaces may be forbidden here. */
export async function probeBubblewrap(options: Omit<BubblewrapOptions, 'bwrap'>): Promise<BubblewrapProbe> {
  if (process.platform !== 'linux') return { ok: false, why: 'bubblewrap needs Linux' };
  const bwrap = findProgram('bwrap', process.env['PATH'] ?? '');
  if (bwrap === undefined) return { ok: false, why: `bubblewrap is not installed: ${install}` };
  const why = await whyUnmeasurable();
  if (why !== undefined) return { ok: false, why };
  const { stdout } = await promisify(execFile)(bwrap, ['--help']);
  if (!/--size\b/.test(stdout) || !/--disable-userns\b/.test(stdout))
    return { ok: false, why: 'bubblewrap is too old: version 0.8 or later is needed' };

  await using ending = new AsyncDisposableStack();
  try {
    const sandbox = createBubblewrapSandbox({ ...options, bwrap });
    ending.defer(() => sandbox.close());
    const scratch = mkdtempSync(path.join(tmpdir(), 'skillet-probe-'));
    ending.defer(() => rmSync(scratch, { recursive: true }));
    const outcome = await sandbox.run({
      argv: ['sh', '-c', 'echo fine'],
      scratch,
      network: [],
      env: { TZ: 'UTC' },
      timeoutMs: 30_000,
      outputCap: 1_000,
      signal: new AbortController().signal,
    });
    if (outcome.status === 'exited' && outcome.stdout === 'fine\n') return { ok: true, bwrap };
    if (outcome.status === 'stopped') return { ok: false, why: explain(`ended by ${outcome.reason}`) };
    return { ok: false, why: explain(outcome.status === 'unavailable' ? outcome.message : outcome.stderr) };
  } catch (error) {
    if (error instanceof OperatorError) return { ok: false, why: error.message };
    return { ok: false, why: explain(error instanceof Error ? error.message : String(error)) };
  }
}

function explain(said: string): string {
  const fix = /namespace|uid map|RTM_NEW|pivot_root|not permitted|Permission denied/i.test(said)
    ? 'this system does not let it make namespaces: set the sysctls kernel.unprivileged_userns_clone = 1 and (Ubuntu) kernel.apparmor_restrict_unprivileged_userns = 0; in a container, let it have user namespaces and a /proc of its own (Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined)'
    : 'it does not work here';
  return `bubblewrap is installed, but ${fix} (${said.trim().slice(0, 300)})`;
}
