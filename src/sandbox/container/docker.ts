import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../lib/clock.ts';
import { createDeadline, type Deadline } from '../../lib/async/deadline.ts';
import { OperatorError } from '../../core/errors.ts';
import { nodeSeen, ownPrograms } from '../bubblewrap/bubblewrap-arguments.ts';
import { containerArguments, missingWord, type Container, type Mount } from './container-arguments.ts';
import type { ContainerEngine } from './container-engine.ts';
import { isNoImage, type ContainerImage } from './container-image.ts';
import { handshakeByStreams, inheritedDescriptors, createPipes } from '../bubblewrap/handshake.ts';
import { installProgram } from '../packages/debian-packages.ts';
import { killOne } from '../../lib/processes/kill-processes.ts';
import { openCapabilitySocket, type CapabilitySocket } from '../open-capability-socket.ts';
import { openEgressProxy, type EgressProxy, type EgressProxyOptions } from '../open-egress-proxy.ts';
import { pausing } from './pausing.ts';
import { runLimited, type Ran } from '../limits/run-limited.ts';
import { runOnTerminal, secondsForPerson } from '../run-on-terminal.ts';
import type {
  Sandbox,
  SandboxLimits,
  SandboxOutcome,
  SandboxRequest,
  ShellEnd,
  ShellRequest,
} from '../sandbox.ts';
import { shellCommand, terminalEnvironment } from '../script-command.ts';

export type DockerOptions = Readonly<{
  engine: ContainerEngine;
  image: ContainerImage;
  limits: SandboxLimits;
  /** Of this bot, where an engine that sees other temporary folders than it can see it, too. */
  folder: string;
  /** Whether the bot's own node runs in the image. */
  node: boolean;
  /** What is installed in an image that is not made of a root file system. */
  installed?: ReadonlySet<string>;
  wayOut?: EgressProxyOptions;
}>;

/** Milliseconds that a client gets to end by itself after its container was ended. */
const clientEndsMs = 10_000;
/** Milliseconds after its time is up from which on a container is of no use to anybody. */
const graceMs = 60_000;
/** Of a shell, and of a command that may wait for a person: after that nobody sits at it. */
const longestShellMs = 86_400_000;

/**
 * The sandbox of a container engine (T9): a container for each command, without a network, of an image that is only read.
 * What a command is, and how it ends, is as in bubblewrap. A container ends with the client that began it, so with the
 * bot, and is removed.
 */
export function createDockerSandbox(options: DockerOptions): Sandbox {
  const { engine, image, limits, folder, node, installed, wayOut: wayOutOptions } = options;
  const pipes = createPipes();
  const covered = inheritedDescriptors();
  const users = writeUsers(folder);
  const ending = new AbortController();
  const running = new Set<Promise<unknown>>();

  return {
    mode: 'docker',
    limits: `${engine.name} enforces ${engine.limits.memory ? 'memory' : 'no memory limit'} and ${engine.limits.pids ? 'the number of processes' : 'no number of processes'}; the rest is watched, so a command can pass it for a moment`,
    reachesNetwork: node,
    seen: (name) => `/${name}`,
    installed,
    async run(request) {
      const ran = withImage(request, () => runOnce(request));
      running.add(ran);
      try {
        return await ran;
      } finally {
        running.delete(ran);
      }
    },
    shell: (request) => withImage(request, () => openShell(request)),
    async close() {
      ending.abort();
      await Promise.allSettled(running);
      pipes.close();
      covered.close();
    },
  };

  async function withImage<Outcome extends object>(
    { network }: ShellRequest,
    runOnce: () => Promise<Outcome | undefined>,
  ): Promise<Outcome | Unavailable> {
    if (network.length > 0 && !node) return noWayOut;
    try {
      // Somebody may have removed it: then it is looked for, or made, once more.
      const outcome = (await runOnce()) ?? (await runOnce());
      return outcome ?? { status: 'unavailable', message: `${engine.name} loses the image of commands` };
    } catch (error) {
      if (error instanceof OperatorError) return { status: 'unavailable', message: error.message };
      throw error;
    }
  }

  async function runOnce(request: SandboxRequest): Promise<SandboxOutcome | undefined> {
    const deadline = createDeadline(systemClock);
    const { cap } = pausing(request.cap, deadline);
    // Its program is the bot's own node.
    const capDoor =
      cap === undefined || !node
        ? undefined
        : await openCapabilitySocket(cap, { node: nodeSeen, programs: ownPrograms, beside: folder });
    const wayOut = await wayOutOf(request);
    try {
      return await runInside(request, await image.current(), { wayOut, capDoor, deadline });
    } finally {
      await wayOut?.close();
      await capDoor?.close();
    }
  }

  /** The engine limits what it uses; a shell is not watched beside. */
  async function openShell(request: ShellRequest): Promise<ShellEnd> {
    const name = newName();
    const wayOut = await wayOutOf(request);
    const removing: Promise<unknown>[] = [];
    try {
      const { args, env } = containerArguments(
        { ...request, argv: shellCommand, env: request.env },
        { ...limits, cpuSeconds: secondsForPerson },
        engine,
        {
          ...shared(wayOut),
          name,
          image: await image.current(),
          until: Date.now() + longestShellMs,
          env: { ...wayOut?.env, ...terminalEnvironment() },
          terminal: true,
        },
      );
      return await runOnTerminal(
        { argv: [engine.program, ...args], env: { ...engine.env, ...env } },
        { ...request, signal: AbortSignal.any([request.signal, ending.signal]) },
        { limits, covered, kill: () => removing.push(remove(name)) },
      );
    } finally {
      await Promise.all(removing);
      await wayOut?.close();
    }
  }

  async function wayOutOf({ network }: ShellRequest): Promise<EgressProxy | undefined> {
    return network.length === 0
      ? undefined
      : openEgressProxy(network, nodeSeen, { ...wayOutOptions, beside: folder });
  }

  function shared(
    wayOut: EgressProxy | undefined,
    capDoor?: CapabilitySocket,
  ): Pick<Container, 'node' | 'mounts' | 'before'> {
    const mounts = [...users, ...(wayOut?.mounts ?? []), ...(capDoor?.mounts ?? [])];
    return { node, mounts, before: wayOut?.argv ?? [] };
  }

  async function runInside(
    request: SandboxRequest,
    id: string,
    {
      wayOut,
      capDoor,
      deadline,
    }: Readonly<{
      wayOut: EgressProxy | undefined;
      capDoor: CapabilitySocket | undefined;
      deadline: Deadline;
    }>,
  ): Promise<SandboxOutcome | undefined> {
    const name = newName();
    const { args, env } = containerArguments(request, limits, engine, {
      ...shared(wayOut, capDoor),
      name,
      image: id,
      until: Date.now() + (capDoor === undefined ? request.timeoutMs : longestShellMs) + graceMs,
      env: wayOut?.env ?? {},
      terminal: false,
    });
    let before = '';
    let first: number | undefined;
    const removing: Promise<unknown>[] = [];
    let late: NodeJS.Timeout | undefined;
    try {
      const ran = await runLimited(
        { argv: [engine.program, ...args], env: { ...engine.env, ...env } },
        { ...request, signal: AbortSignal.any([request.signal, ending.signal]) },
        {
          limits,
          pipes,
          covered,
          deadline,
          handshake: handshakeByStreams({
            word: name,
            onBefore: (text) => (before = text),
            async onStart() {
              wayOut?.started();
              capDoor?.started();
              first = await firstProcess(name);
              return first;
            },
          }),
          kill(client) {
            if (first !== undefined) killOne(first);
            removing.push(remove(name));
            late = setTimeout(killOne, clientEndsMs, client);
          },
        },
      );
      if (first === undefined) return neverBegan(request, ran, name, before);
      return wayOut === undefined ? ran : { ...ran, refused: wayOut.refused() };
    } finally {
      clearTimeout(late);
      await Promise.all(removing);
    }
  }

  /** Where the container began, what it says is the command's. */
  function neverBegan(
    { argv: [program] }: SandboxRequest,
    ran: Ran,
    name: string,
    before: string,
  ): SandboxOutcome | undefined {
    if (ran.status === 'stopped') return ran;
    if (before.includes(missingWord(name))) return missing(program, installed !== undefined);
    if (isNoImage(before)) {
      image.forget();
      return undefined;
    }
    throw new Error(`${engine.name} ended with exit code ${ran.exitCode}: ${before.trim()}`);
  }

  async function firstProcess(name: string): Promise<number> {
    return Number(await engine.call(['inspect', '--type', 'container', '--format', '{{.State.Pid}}', name]));
  }

  /** For sure: in any state, and no matter who may end its processes. */
  async function remove(name: string): Promise<void> {
    await engine.call(['rm', '--force', name]).catch((error: unknown) => {
      if (
        !(error instanceof OperatorError) ||
        !/no such container|no container with|already in progress/i.test(error.message)
      )
        throw error;
    });
  }
}

function newName(): string {
  return `skillet-${randomBytes(8).toString('hex')}`;
}

type Unavailable = Extract<SandboxOutcome, { status: 'unavailable' }>;

const noWayOut: Unavailable = {
  status: 'unavailable',
  message:
    "commands of this sandbox reach no network, as the bot's own node does not run in its image: use an image with glibc and libstdc++6, or none ([sandbox] image)",
};

function missing(program: string, ownImage: boolean): SandboxOutcome {
  const fix = installProgram(program, ownImage ? 'image' : 'root');
  return { status: 'unavailable', message: `${program} is not there in the sandbox: ${fix}` };
}

/** Programs ask for the name of their user, whom an image does not know. */
function writeUsers(folder: string): readonly Mount[] {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return [
    ['passwd', `skillet:x:${uid}:${gid}::/scratch:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n`] as const,
    ['group', `skillet:x:${gid}:\nnogroup:x:65534:\n`] as const,
  ].map(([name, text]) => {
    const source = path.join(folder, name);
    writeFileSync(source, text, { mode: 0o644 });
    return { source, target: `/etc/${name}` };
  });
}
