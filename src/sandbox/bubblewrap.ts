import { closeSync, realpathSync } from 'node:fs';
import { release } from 'node:os';
import path from 'node:path';
import { hasProgram, packageOf } from './has-program.ts';
import { inheritedDescriptors } from './inherited-descriptors.ts';
import { killNamespace } from './kill-processes.ts';
import { limitsCommand } from './limits-command.ts';
import { createNamelessFile, type NamelessFile } from './nameless-file.ts';
import { createPipes } from './pipes.ts';
import { runLimited, type Ran } from './run-limited.ts';
import type { Sandbox, SandboxLimits, SandboxOutcome, SandboxRequest } from './sandbox.ts';
import { systemCallFilter } from './system-calls.ts';
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
  const covered = inheritedDescriptors();
  const all = handedFiles();
  const ending = new AbortController();
  const running = new Set<Promise<unknown>>();

  return {
    mode: 'bubblewrap',
    reachesNetwork: false,
    seen: (folder) => `/${folder}`,
    async run(request) {
      const [program] = request.argv;
      const system = systemNow();
      const lent = ['node', ...(request.programs ?? []).map((file) => path.basename(file))];
      if (!lent.includes(program) && !hasProgram(system.root, searched, program))
        return missing(program, system);
      const signal = AbortSignal.any([request.signal, ending.signal]);
      const handed = all.filter(({ ofUsers }) => !ofUsers || system.hasUsers);
      const files = handed.map(({ file }) => file.open());
      let started = false;
      const ran = runLimited(
        { argv: [bwrap, ...argumentsOf(request, system, handed)], env: environmentOf(request.env), files },
        { ...request, signal },
        { limits, pipes, covered, kill: killNamespace, onStart: () => (started = true) },
      );
      running.add(ran);
      try {
        return judged(await ran, started);
      } finally {
        running.delete(ran);
        for (const file of files) closeSync(file);
      }
    },
    async close() {
      ending.abort();
      await Promise.allSettled(running);
      pipes.close();
      covered.close();
      for (const { file } of all) file.close();
    },
  };

  function argumentsOf(
    { argv, skillDirectory, scratch, chat, packages, programs = [] }: SandboxRequest,
    system: SystemMounts,
    handed: readonly HandedFile[],
  ): readonly string[] {
    const temporary = String(Math.min(256, limits.memoryMb / 4) * 1024 * 1024);
    return [
      ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net'],
      ...['--unshare-cgroup-try', '--disable-userns', '--die-with-parent', '--new-session'],
      ...['--uid', String(user), '--gid', String(user), '--cap-drop', 'ALL', '--hostname', 'sandbox'],
      ...system.args,
      ...system.cover(hidden),
      ...handed.flatMap(({ args }, index) => args(String(index + 4))),
      ...['--proc', '/proc', '--dev', '/dev', '--size', temporary, '--perms', '1777', '--tmpfs', '/dev/shm'],
      ...['--size', temporary, '--perms', '1777', '--tmpfs', '/tmp', '--remount-ro', '/dev'],
      // Where the bot is root, so is the sandbox's user to the system: it would own what is in /proc/sys.
      ...['--remount-ro', '/proc'],
      ...['--ro-bind', process.execPath, `${ownPrograms}/node`],
      ...(skillDirectory === undefined ? [] : ['--ro-bind', skillDirectory, '/skill']),
      ...programs.flatMap((file) => [
        '--ro-bind',
        realpathSync(file),
        `${ownPrograms}/${path.basename(file)}`,
      ]),
      ...(packages === undefined ? [] : ['--ro-bind', packages, '/packages']),
      ...['--bind', scratch, '/scratch'],
      ...(chat === undefined ? [] : ['--bind', chat, '/chat']),
      ...['--remount-ro', '/', '--chdir', '/scratch', '--'],
      ...limitsCommand(limits, { ownUsers: countsByNamespace(), awaits: true }),
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

/** A file that bwrap reads from a descriptor, and its arguments for that. */
type HandedFile = Readonly<{
  file: NamelessFile;
  /** Lies in `/etc`, which not every system has. */
  ofUsers: boolean;
  args(fd: string): readonly string[];
}>;

function handedFiles(): readonly HandedFile[] {
  const filter = systemCallFilter();
  const users = [
    ['/etc/passwd', `skillet:x:${user}:${user}::/scratch:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n`],
    ['/etc/group', `skillet:x:${user}:\nnogroup:x:65534:\n`],
  ] as const;
  return [
    ...users.map(([place, text]) => ({
      file: createNamelessFile(text),
      ofUsers: true,
      args: (fd: string) => ['--perms', '0644', '--ro-bind-data', fd, place],
    })),
    ...(filter === undefined
      ? []
      : [{ file: createNamelessFile(filter), ofUsers: false, args: (fd: string) => ['--seccomp', fd] }]),
  ];
}

/** What the end of bwrap stands for: it is a fault of the host where the command never began. */
function judged(ran: Ran, started: boolean): SandboxOutcome {
  if (ran.status === 'exited' && !started)
    throw new Error(`bubblewrap ended with exit code ${ran.exitCode}: ${ran.stderr.trim()}`);
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
