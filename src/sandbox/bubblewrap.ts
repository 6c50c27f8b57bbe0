import { closeSync } from 'node:fs';
import { release } from 'node:os';
import { hasProgram, packageOf } from './has-program.ts';
import { limitsCommand } from './limits-command.ts';
import { createNamelessFile } from './nameless-file.ts';
import { createPipes } from './pipes.ts';
import { runLimited, type Ran } from './run-limited.ts';
import type { Sandbox, SandboxLimits, SandboxOutcome, SandboxRequest } from './sandbox.ts';
import { systemMounts, type SystemMounts } from './system-mounts.ts';

export type BubblewrapOptions = Readonly<{
  /** Path of bwrap. */
  bwrap: string;
  limits: SandboxLimits;
  /** Folder with a system of the sandbox's own, in place of the host's: asked at each command, as it may be built anew (R6). */
  rootfs?: () => string | undefined;
  /** Files and folders of the bot, which are covered where they lie within the system. */
  hidden?: readonly string[];
}>;

/** Where programs are looked for. Node, which the bot itself runs on, is always there. */
const searched = ['/usr/local/bin', '/usr/bin', '/bin'];
const ownPrograms = '/run/skillet/bin';
const user = 1000;

/**
 * The sandbox made of Linux namespaces (T9): an empty root with the system read-only, the skill read-only, scratch and
 * conversation folder; own user, processes, IPC, host name, network and mounts; no descriptor, no variable and no
 * terminal of the host. All processes of a command end with it, and with the bot.
 */
export function createBubblewrapSandbox({ bwrap, limits, rootfs, hidden = [] }: BubblewrapOptions): Sandbox {
  const systemNow = followSystem(rootfs);
  const pipes = createPipes();
  const users = createNamelessFile(
    `skillet:x:${user}:${user}::/scratch:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n`,
  );
  const groups = createNamelessFile(`skillet:x:${user}:\nnogroup:x:65534:\n`);
  const ending = new AbortController();
  const running = new Set<Promise<unknown>>();

  return {
    mode: 'bubblewrap',
    reachesNetwork: false,
    seen: (folder) => `/${folder}`,
    async run(request) {
      const [program] = request.argv;
      const system = systemNow();
      if (program !== 'node' && !hasProgram(system.root, searched, program)) return missing(program, system);
      const signal = AbortSignal.any([request.signal, ending.signal]);
      const files = [users.open(), groups.open()];
      const ran = runLimited(
        { argv: [bwrap, ...argumentsOf(request, system)], env: environmentOf(request.env), files },
        { ...request, signal },
        { limits, pipes },
      );
      running.add(ran);
      try {
        return judged(await ran);
      } finally {
        running.delete(ran);
        for (const file of files) closeSync(file);
      }
    },
    async close() {
      ending.abort();
      await Promise.allSettled(running);
      pipes.close();
      users.close();
      groups.close();
    },
  };

  function argumentsOf(
    { argv, skillDirectory, scratch, chat }: SandboxRequest,
    system: SystemMounts,
  ): readonly string[] {
    const temporary = String(Math.min(256, limits.memoryMb / 4) * 1024 * 1024);
    return [
      ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net'],
      ...['--unshare-cgroup-try', '--disable-userns', '--die-with-parent', '--new-session'],
      ...['--uid', String(user), '--gid', String(user), '--cap-drop', 'ALL', '--hostname', 'sandbox'],
      ...system.args,
      ...system.cover(hidden),
      ...['--perms', '0644', '--ro-bind-data', '3', '/etc/passwd'],
      ...['--perms', '0644', '--ro-bind-data', '4', '/etc/group'],
      ...['--proc', '/proc', '--dev', '/dev', '--size', temporary, '--perms', '1777', '--tmpfs', '/dev/shm'],
      ...['--size', temporary, '--perms', '1777', '--tmpfs', '/tmp', '--remount-ro', '/dev'],
      ...['--ro-bind', process.execPath, `${ownPrograms}/node`],
      ...(skillDirectory === undefined ? [] : ['--ro-bind', skillDirectory, '/skill']),
      ...['--bind', scratch, '/scratch'],
      ...(chat === undefined ? [] : ['--bind', chat, '/chat']),
      ...['--remount-ro', '/', '--chdir', '/scratch', '--'],
      ...limitsCommand(limits, { ownUsers: countsByNamespace() }),
      ...argv,
    ];
  }
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

function environmentOf(declared: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return {
    ...declared,
    PATH: [ownPrograms, ...searched].join(':'),
    HOME: '/scratch',
    TMPDIR: '/tmp',
    USER: 'skillet',
    LANG: 'C.UTF-8',
  };
}

/** What the exit code of bwrap stands for. */
function judged(ran: Ran): SandboxOutcome {
  if (ran.status !== 'exited') return ran;
  if (ran.exitCode === 1 && ran.stdout === '' && /^bwrap: (?!execvp)/.test(ran.stderr))
    throw new Error(ran.stderr.trim());
  // Signals of the limits of a single process: SIGXCPU, SIGXFSZ.
  const { stdout, stderr, truncated } = ran;
  if (ran.exitCode === 152) return { status: 'stopped', reason: 'cpu', stdout, stderr, truncated };
  if (ran.exitCode === 153) return { status: 'stopped', reason: 'disk', stdout, stderr, truncated };
  return ran;
}

function missing(program: string, { root }: SystemMounts): SandboxOutcome {
  const fix =
    root === '/'
      ? `install it on the bot's system (apt-get install ${packageOf(program)})`
      : `declare packages: [${packageOf(program)}] in the skill and install them with "skillet sandbox build"`;
  return { status: 'unavailable', message: `${program} is not there in the sandbox: ${fix}` };
}

/** Since Linux 5.14 processes are counted for each user namespace; before, for the user on the whole system. */
function countsByNamespace(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
