import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../lib/clock.ts';
import { createDeadline, type Deadline } from '../../lib/async/deadline.ts';
import { OperatorError } from '../../core/errors.ts';
import { killOne } from '../../lib/processes/kill-processes.ts';
import { containerArguments, missingWord, type Container, type Mount } from './container-arguments.ts';
import type { ContainerEngine } from './container-engine.ts';
import { isNoImage, type ContainerImage } from './container-image.ts';
import { nodeSeen, ownPrograms, userSettings } from '../inside-sandbox.ts';
import { handshakeByStreams } from '../limits/handshake.ts';
import {
  createRunner,
  runLimited,
  runOnTerminal,
  secondsForPerson,
  type Ran,
  type Runner,
} from '../limits/run-limited.ts';
import { openCapabilitySocket, type CapabilitySocket } from '../open-capability-socket.ts';
import { openEgressProxy, type EgressProxy, type EgressProxyOptions } from '../open-egress-proxy.ts';
import { placeEntries, seenEntry } from '../own-entries.ts';
import { installProgram } from '../packages/debian-packages.ts';
import {
  pausing,
  type Sandbox,
  type SandboxLimits,
  type SandboxOutcome,
  type SandboxRequest,
  type ShellEnd,
  type ShellRequest,
} from '../sandbox.ts';
import { shellCommand, terminalEnvironment } from '../script-command.ts';

export type DockerOptions = Readonly<{
  engine: ContainerEngine;
  image: ContainerImage;
  limits: SandboxLimits;
  /** A folder for files that the engine has to see, too. */
  folder: string;
  node: boolean;
  installed?: ReadonlySet<string>;
  wayOut?: EgressProxyOptions;
  /** Called if the engine limits memory and processes, but the bot can't see the processes to watch them. */
  onUnseen?: () => void;
}>;

type Host = DockerOptions & Readonly<{ runner: Runner; users: readonly Mount[] }>;
type Unavailable = Extract<SandboxOutcome, { status: 'unavailable' }>;
type Own = Readonly<{ mounts: readonly Mount[]; close(): void }>;
type Beside = Readonly<{
  proxy?: EgressProxy | undefined;
  capSocket?: CapabilitySocket | undefined;
  own: Own;
}>;

/** Milliseconds that a client gets to end after its container. */
const clientEndsMs = 10_000;
/** In milliseconds, so that a service which hangs delays no command for longer. */
const removeLimitMs = 30_000;
/** Milliseconds from a command's timeout until its container counts as left over. */
const graceMs = 60_000;
const longestShellMs = 86_400_000;

/** Runs each command in its own container without network (T9), which ends with its client and is removed. */
export function createDockerSandbox(options: DockerOptions): Sandbox {
  const { engine, folder, node, installed } = options;
  const host: Host = { ...options, runner: createRunner(), users: writeUsers(folder) };
  return {
    mode: 'docker',
    limits: `${engine.name} enforces ${engine.limits.memory ? 'memory' : 'no memory limit'} and ${engine.limits.pids ? 'the number of processes' : 'no number of processes'}; the rest is watched, so a command can pass it for a moment`,
    reachesNetwork: node,
    seen: (name) => `/${name}`,
    installed,
    run: (request) => host.runner.track(withImage(request, host, () => runCommand(request, host))),
    shell: (request) => withImage(request, host, () => openShell(request, host)),
    close: host.runner.close,
  };
}

/** Runs something with the image. If somebody has removed it, it is looked for or made once more. */
async function withImage<Outcome extends object>(
  { network }: ShellRequest,
  { engine, node }: Host,
  runOnce: () => Promise<Outcome | undefined>,
): Promise<Outcome | Unavailable> {
  if (network.length > 0 && !node) return noNetwork;
  try {
    const outcome = (await runOnce()) ?? (await runOnce());
    return outcome ?? { status: 'unavailable', message: `${engine.name} loses the image of commands` };
  } catch (error) {
    if (error instanceof OperatorError) return { status: 'unavailable', message: error.message };
    throw error;
  }
}

async function runCommand(request: SandboxRequest, host: Host): Promise<SandboxOutcome | undefined> {
  const deadline = createDeadline(systemClock);
  const { cap } = pausing(request.cap, deadline);
  // The client of the socket needs the bot's node.
  const capSocket =
    cap === undefined || !host.node
      ? undefined
      : await openCapabilitySocket(cap, { node: nodeSeen, programs: ownPrograms, beside: host.folder });
  const proxy = await openProxy(request, host);
  const own = showOwn(request);
  try {
    return await runInside(request, host, { proxy, capSocket, own }, deadline);
  } finally {
    own.close();
    await proxy?.close();
    await capSocket?.close();
  }
}

/** Opens a shell, which the engine limits and nobody watches. */
async function openShell(request: ShellRequest, host: Host): Promise<ShellEnd> {
  const { engine, limits, image, runner } = host;
  const name = newName();
  const proxy = await openProxy(request, host);
  const own = showOwn(request);
  const removing: Promise<unknown>[] = [];
  try {
    const { args, env } = containerArguments(
      { ...request, argv: shellCommand },
      { ...limits, cpuSeconds: secondsForPerson },
      engine,
      {
        ...shared(host, { proxy, own }),
        name,
        image: await image.current(),
        until: Date.now() + longestShellMs,
        env: { ...proxy?.env, ...terminalEnvironment() },
        terminal: true,
      },
    );
    const command = { argv: [engine.program, ...args], env: { ...engine.env, ...env } } as const;
    const kill = (): void => void removing.push(remove(engine, name));
    return await runOnTerminal(command, request, { limits, runner, kill });
  } finally {
    await Promise.all(removing);
    own.close();
    await proxy?.close();
  }
}

function showOwn(request: ShellRequest): Own {
  const { mounts, remove } = placeEntries(request, 'point');
  return {
    mounts: mounts.map((entry) => ({ source: entry.source, target: seenEntry(entry) })),
    close: remove,
  };
}

async function openProxy(
  { network }: ShellRequest,
  { wayOut, folder }: Host,
): Promise<EgressProxy | undefined> {
  return network.length === 0 ? undefined : openEgressProxy(network, nodeSeen, { ...wayOut, beside: folder });
}

function shared(
  { users, node }: Host,
  { proxy, capSocket, own }: Beside,
): Pick<Container, 'node' | 'mounts' | 'before'> {
  const mounts = [...users, ...(proxy?.mounts ?? []), ...(capSocket?.mounts ?? []), ...own.mounts];
  return { node, mounts, before: proxy?.argv ?? [] };
}

async function runInside(
  request: SandboxRequest,
  host: Host,
  beside: Beside,
  deadline: Deadline,
): Promise<SandboxOutcome | undefined> {
  const { engine, limits, image, runner } = host;
  const { proxy, capSocket } = beside;
  const name = newName();
  const { args, env } = containerArguments(request, limits, engine, {
    ...shared(host, beside),
    name,
    image: await image.current(),
    until: Date.now() + (capSocket === undefined ? request.timeoutMs : longestShellMs) + graceMs,
    env: proxy?.env ?? {},
    terminal: false,
  });
  let before = '';
  let hasBegun = false;
  let first: number | undefined;
  const removing: Promise<unknown>[] = [];
  let late: NodeJS.Timeout | undefined;
  const handshake = handshakeByStreams({
    word: name,
    onBefore: (text) => (before = text),
    async onStart() {
      proxy?.started();
      capSocket?.started();
      const format = '{{.State.Pid}}';
      const id = Number(await engine.call(['inspect', '--type', 'container', '--format', format, name]));
      if (isNested(id)) first = id;
      else passUnseen(host);
      hasBegun = true;
      return first ?? 0;
    },
  });
  try {
    const ran = await runLimited(
      { argv: [engine.program, ...args], env: { ...engine.env, ...env } },
      request,
      {
        limits,
        runner,
        deadline,
        handshake,
        kill(client) {
          if (first !== undefined) killOne(first);
          removing.push(remove(engine, name));
          late = setTimeout(killOne, clientEndsMs, client);
        },
      },
    );
    if (!hasBegun) return neverBegan(request, host, ran, { name, before });
    return proxy === undefined ? ran : { ...ran, refused: proxy.refused() };
  } finally {
    clearTimeout(late);
    await Promise.all(removing);
  }
}

/**
 * Whether a process is in a namespace below ours. An engine elsewhere, or outside of our container, has other numbers,
 * so here nobody may have such a number, or somebody else.
 */
function isNested(id: number): boolean {
  try {
    return /^NSpid:(?:\s+\d+){2,}$/m.test(readFileSync(`/proc/${id}/status`, 'latin1'));
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

function passUnseen({ engine: { name, limits }, onUnseen }: Host): void {
  if (!limits.memory || !limits.pids)
    throw new OperatorError(
      `the processes of ${name} can not be watched from here, and it does not limit memory and processes by itself: run the engine on this machine, or let it use control groups`,
    );
  onUnseen?.();
}

/** The outcome of a command that did not begin; undefined if the image is gone. `before` is what the engine said. */
function neverBegan(
  { argv: [program] }: SandboxRequest,
  { engine, image, installed }: Host,
  ran: Ran,
  { name, before }: Readonly<{ name: string; before: string }>,
): SandboxOutcome | undefined {
  if (ran.status === 'stopped') return ran;
  if (before.includes(missingWord(name))) {
    const fix = installProgram(program, installed === undefined ? 'root' : 'image');
    return { status: 'unavailable', message: `${program} is not there in the sandbox: ${fix}` };
  }
  if (isNoImage(before)) {
    image.forget();
    return undefined;
  }
  throw new Error(`${engine.name} ended with exit code ${ran.exitCode}: ${before.trim()}`);
}

async function remove(engine: ContainerEngine, name: string): Promise<void> {
  await engine.call(['rm', '--force', name], removeLimitMs).catch((error: unknown) => {
    if (
      !(error instanceof OperatorError) ||
      !/no such container|no container with|already in progress/i.test(error.message)
    )
      throw error;
  });
}

function newName(): string {
  return `skillet-${randomBytes(8).toString('hex')}`;
}

const noNetwork: Unavailable = {
  status: 'unavailable',
  message:
    "commands of this sandbox reach no network, as the bot's own node does not run in its image: use an image with glibc and libstdc++6, or none ([sandbox] image)",
};

/** Files by which programs find the name of their user, whom the image does not know. */
function writeUsers(folder: string): readonly Mount[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return userSettings(process.getuid?.() ?? 0, process.getgid?.() ?? 0).map(([target, text]) => {
    const source = path.join(folder, path.basename(target));
    writeFileSync(source, text, { mode: 0o644 });
    return { source, target };
  });
}
