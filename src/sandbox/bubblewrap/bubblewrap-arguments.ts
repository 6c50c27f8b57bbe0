import { realpathSync } from 'node:fs';
import { release } from 'node:os';
import path from 'node:path';
import { defined } from '../../lib/json/json-values.ts';
import { limitsCommand } from '../limits/limits-command.ts';
import type { SandboxLimits, SandboxRequest } from '../sandbox.ts';

/** Where programs are looked for in the sandbox. */
export const searchedFolders = ['/usr/local/bin', '/usr/bin', '/bin'];
/** User and group in the sandbox. */
export const sandboxUser = 1000;

/** Where programs of the host are, that are lent. */
export const ownPrograms = '/run/skillet/bin';
/** Node, which the bot itself runs on: in every sandbox, before any other. */
export const nodeSeen = `${ownPrograms}/node`;
/** The name that skills of elsewhere call Python by, for systems that know it as python3 only. */
export const pythonSeen = `${ownPrograms}/python`;

/** Megabytes of the temporary folders at most. */
const mostTemporary = 256;

/**
 * Options of bwrap for one command, and what it starts (T9). `system` mounts what programs need, `more` what only this
 * command has; both are options themselves. `before` stands before the command.
 */
export function bubblewrapArguments(
  {
    argv,
    skillDirectory,
    scratch,
    chat,
    packages,
    programs = [],
  }: Pick<SandboxRequest, 'argv' | 'skillDirectory' | 'scratch' | 'chat' | 'packages' | 'programs'>,
  limits: SandboxLimits,
  {
    system,
    more,
    before,
    session = 'new',
  }: Readonly<{
    system: readonly string[];
    more: readonly string[];
    before: readonly string[];
    /** `kept`: with the terminal, and so the keys, of who starts it. */
    session?: 'new' | 'kept';
  }>,
): Readonly<{ options: readonly string[]; started: readonly string[] }> {
  const user = String(sandboxUser);
  const temporary = String(temporaryBytes(limits));
  const options = [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net'],
    ...['--unshare-cgroup-try', '--disable-userns', '--die-with-parent'],
    ...(session === 'new' ? ['--new-session'] : []),
    ...['--uid', user, '--gid', user, '--cap-drop', 'ALL', '--hostname', 'sandbox'],
    ...system,
    ...['--proc', '/proc', '--dev', '/dev', '--size', temporary, '--perms', '1777', '--tmpfs', '/dev/shm'],
    ...['--size', temporary, '--perms', '1777', '--tmpfs', '/tmp', '--remount-ro', '/dev'],
    // The line that the host's kernel was started with.
    ...['--ro-bind', '/dev/null', '/proc/cmdline'],
    // Where the bot is root, so is the sandbox's user to the system: it would own what is in /proc/sys.
    ...['--remount-ro', '/proc'],
    ...['--ro-bind', process.execPath, nodeSeen],
    ...(skillDirectory === undefined ? [] : ['--ro-bind', skillDirectory, '/skill']),
    ...programs.flatMap((file) => ['--ro-bind', realpathSync(file), `${ownPrograms}/${path.basename(file)}`]),
    ...(packages === undefined ? [] : ['--ro-bind', packages, '/packages']),
    ...['--bind', scratch, '/scratch'],
    ...(chat === undefined ? [] : ['--bind', chat, '/chat']),
    ...more,
    ...['--remount-ro', '/', '--chdir', '/scratch'],
  ];
  const limited = limitsCommand(limits, { ownUsers: countsByNamespace(), awaits: true });
  return { options, started: [...limited, ...before, ...argv] };
}

/** What each of the temporary folders may hold. */
export function temporaryBytes({ memoryMb }: SandboxLimits): number {
  return Math.floor(Math.min(mostTemporary, memoryMb / 4)) * 1024 * 1024;
}

/** The environment of a command: what is declared, and the sandbox's own over it. */
export function sandboxEnvironment(
  declared: Readonly<Record<string, string>>,
  { skillDirectory }: Pick<SandboxRequest, 'skillDirectory'>,
): Readonly<Record<string, string>> {
  return defined({
    // Not asked where it is declared: the first time costs 25 ms and 8 MB (B4).
    TZ: declared['TZ'] === undefined ? new Intl.DateTimeFormat().resolvedOptions().timeZone : undefined,
    // Public skills are written for their own folder as the working directory: there Python finds their modules.
    PYTHONPATH: skillDirectory === undefined ? undefined : '/skill',
    ...declared,
    PATH: [ownPrograms, ...searchedFolders].join(':'),
    HOME: '/scratch',
    TMPDIR: '/tmp',
    USER: 'skillet',
    LANG: 'C.UTF-8',
  });
}

/** Since Linux 5.14 processes are counted for each user namespace; before, for the user on the whole system. */
function countsByNamespace(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
