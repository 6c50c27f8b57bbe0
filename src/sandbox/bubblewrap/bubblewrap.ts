import path from 'node:path';
import { systemClock } from '../../lib/clock.ts';
import { createDeadline } from '../../lib/async/deadline.ts';
import {
  bubblewrapArguments,
  nodeSeen,
  ownPrograms,
  pythonSeen,
  sandboxEnvironment,
  sandboxUser,
  searchedFolders,
} from './bubblewrap-arguments.ts';
import { openCommandGroups, type CommandGroup, type CommandGroups } from '../command-groups.ts';
import { createHandedFiles, systemMounts, type SystemMounts } from './handed-files.ts';
import { handshakeByDescriptor, inheritedDescriptors, createPipes, type Handshake } from './handshake.ts';
import { installProgram } from '../packages/debian-packages.ts';
import { hasProgram } from '../find-program.ts';
import { killNamespace } from '../../lib/processes/kill-processes.ts';
import { openEgressProxy, type EgressProxyOptions } from '../open-egress-proxy.ts';
import { openCapabilitySocket } from '../open-capability-socket.ts';
import { pausing } from '../container/pausing.ts';
import { firstFile, runLimited, type HostCommand } from '../limits/run-limited.ts';
import { runOnTerminal, secondsForPerson } from '../run-on-terminal.ts';
import {
  capPrograms,
  type Sandbox,
  type SandboxLimits,
  type SandboxOutcome,
  type SandboxOutput,
  type SandboxRequest,
  type ShellEnd,
  type ShellRequest,
} from '../sandbox.ts';
import { shellCommand, terminalEnvironment } from '../script-command.ts';

export type BubblewrapOptions = Readonly<{
  /** Path of bwrap. */
  bwrap: string;
  limits: SandboxLimits;
  /** Folder with a system of the sandbox's own, in place of the host's: asked at each command, as it may be built again (R6). */
  rootfs?: () => string | undefined;
  /** Files and folders of the bot, which are covered where they lie within the system. */
  hidden?: readonly string[];
  /** How the hosts that skills declare are reached. */
  wayOut?: EgressProxyOptions;
  /** Where the kernel holds commands to their limits; made here without. */
  groups?: CommandGroups;
}>;

/**
 * The sandbox made of Linux namespaces (T9): an empty root with the system read-only, the skill read-only, scratch and
 * conversation folder; own user, processes, IPC, host name, network and mounts; no descriptor, no variable and no
 * terminal of the host. All processes of a command end with it, and with the bot.
 */
export function createBubblewrapSandbox({
  bwrap,
  limits,
  rootfs,
  hidden = [],
  wayOut: wayOutOptions,
  groups = openCommandGroups(),
}: BubblewrapOptions): Sandbox {
  const systemNow = followSystem(rootfs);
  const pipes = createPipes();
  const covered = inheritedDescriptors();
  const handed = createHandedFiles(sandboxUser, firstFile, { counted: groups.ok });
  const ending = new AbortController();
  const running = new Set<Promise<unknown>>();

  return {
    mode: 'bubblewrap',
    limits: groups.ok ? byKernel : `${watched} (${groups.why})`,
    reachesNetwork: true,
    seen: (folder) => `/${folder}`,
    async run(request) {
      const [program] = request.argv;
      const system = systemNow();
      // Node is there in any case: the bot's own.
      const python = pythonOf(system);
      const lent = [
        'node',
        ...(python === undefined ? [] : ['python']),
        ...(request.cap === undefined ? [] : capPrograms),
        ...(request.programs ?? []).map((file) => path.basename(file)),
      ];
      if (!lent.includes(program) && !hasProgram(system.root, searchedFolders, program))
        return missing(program, system);
      const ran = runInside(request, system, python);
      running.add(ran);
      try {
        return await ran;
      } finally {
        running.delete(ran);
      }
    },
    shell: openShell,
    async close() {
      ending.abort();
      await Promise.allSettled(running);
      pipes.close();
      covered.close();
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
        runLimited(
          command,
          { ...request, signal: AbortSignal.any([request.signal, ending.signal]) },
          { limits, pipes, covered, kill: killNamespace, handshake, deadline, ...met },
        ),
    );
    if (result.status === 'exited' && !started)
      throw new Error(`bubblewrap ended with exit code ${result.exitCode}: ${result.stderr.trim()}`);
    return { ...result, ...refused };
  }

  async function openShell(request: ShellRequest): Promise<ShellEnd> {
    const system = systemNow();
    const forPerson = { ...limits, cpuSeconds: secondsForPerson };
    // Without the filter a command could type on the terminal: it then gets no job control, and can't.
    const session = handed.filters ? 'kept' : 'new';
    const { result } = await withCommand(
      { ...request, argv: shellCommand },
      { system, python: pythonOf(system), limits: forPerson, session },
      (command, handshake, met) =>
        runOnTerminal(
          { ...command, env: { ...command.env, ...terminalEnvironment() } },
          { ...request, signal: AbortSignal.any([request.signal, ending.signal]) },
          { limits: forPerson, covered, kill: killNamespace, handshake, ...met },
        ),
    );
    return result;
  }

  /** Makes the command line of one command, and clears up after its use. */
  async function withCommand<Result>(
    request: ShellRequest & Pick<SandboxRequest, 'argv' | 'packages' | 'programs' | 'cap'>,
    how: Readonly<{
      system: SystemMounts;
      python: string | undefined;
      limits: SandboxLimits;
      session: 'new' | 'kept';
    }>,
    use: (
      command: HostCommand,
      handshake: Handshake,
      met: Partial<Pick<CommandGroup, 'met'>>,
    ) => Promise<Result>,
  ): Promise<Readonly<{ started: boolean; refused: Pick<SandboxOutput, 'refused'>; result: Result }>> {
    const { system, python, session } = how;
    const { network, env, cap } = request;
    const capDoor =
      cap === undefined
        ? undefined
        : await openCapabilitySocket(cap, { node: nodeSeen, programs: ownPrograms });
    const wayOut = network.length === 0 ? undefined : await openEgressProxy(network, nodeSeen, wayOutOptions);
    const settings = handed.open(system.settings);
    const group = groups.ok ? groups.open(limits) : undefined;
    let started = false;
    try {
      const { options, started: inside } = bubblewrapArguments(request, how.limits, {
        system: [...system.args, ...system.cover(hidden), ...settings.args],
        more: [
          ...(python === undefined ? [] : ['--symlink', python, pythonSeen]),
          ...[...(wayOut?.mounts ?? []), ...(capDoor?.mounts ?? [])].flatMap(({ source, target }) => [
            '--ro-bind',
            source,
            target,
          ]),
        ],
        before: wayOut?.argv ?? [],
        session,
      });
      const { number, files } = settings.withOptions(options);
      const result = await use(
        {
          argv: [bwrap, '--args', number, '--', ...inside],
          env: { ...sandboxEnvironment(env, request), ...wayOut?.env },
          files,
        },
        handshakeByDescriptor(() => {
          started = true;
          wayOut?.started();
          capDoor?.started();
        }, group),
        group === undefined ? {} : { met: group.met },
      );
      return { started, refused: wayOut === undefined ? {} : { refused: wayOut.refused() }, result };
    } finally {
      settings.close();
      group?.close();
      await wayOut?.close();
      await capDoor?.close();
    }
  }
}

const byKernel =
  'the kernel enforces memory and the number of processes; processor time and disk are watched, so a command can pass those for a moment';
const watched =
  'all are watched, none is enforced by the kernel: a hostile command can pass them for a moment, and can hold disk space that is not counted. To have the kernel enforce memory and processes, run the bot as a systemd service with Delegate=yes';

/** What `python` stands for where the system has no program of that name. */
function pythonOf({ root }: SystemMounts): string | undefined {
  if (hasProgram(root, searchedFolders, 'python')) return undefined;
  const folder = searchedFolders.find((each) => hasProgram(root, [each], 'python3'));
  return folder === undefined ? undefined : path.posix.join(folder, 'python3');
}

/** The system in use, looked at again only where it is another one. */
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
