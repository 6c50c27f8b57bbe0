import {
  closeSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { release, tmpdir } from 'node:os';
import path from 'node:path';
import { nameSettings, nodeSeen, ownPrograms, userSettings } from '../inside-sandbox.ts';
import { limitsCommand, temporaryBytes } from '../limits/kernel-limits.ts';
import { seenEntry, type OwnEntry } from '../own-entries.ts';
import type { SandboxCommand, SandboxLimits } from '../sandbox.ts';
import { systemCallFilter } from './system-calls.ts';

const sandboxUser = 1000;

export function bubblewrapArguments(
  { argv, skillDirectory, scratch, chat, packages, programs = [] }: SandboxCommand,
  limits: SandboxLimits,
  {
    system,
    more,
    before,
    own = [],
    session = 'new',
  }: Readonly<{
    /** `system` are mounts of programs, `more` those of this command only. */
    system: readonly string[];
    more: readonly string[];
    before: readonly string[];
    /** Entries of the skill, whose places in the working folder exist. */
    own?: readonly OwnEntry[];
    /** `kept` shares the terminal, and so its keys, with the program that starts the command. */
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
    // Hides the boot parameters of the host's kernel.
    ...['--ro-bind', '/dev/null', '/proc/cmdline'],
    // If the bot is root, the sandbox's user would own /proc/sys.
    ...['--remount-ro', '/proc'],
    ...['--ro-bind', process.execPath, nodeSeen],
    ...(skillDirectory === undefined ? [] : ['--ro-bind', skillDirectory, '/skill']),
    ...programs.flatMap((file) => ['--ro-bind', realpathSync(file), `${ownPrograms}/${path.basename(file)}`]),
    ...(packages === undefined ? [] : ['--ro-bind', packages, '/packages']),
    ...['--bind', scratch, '/scratch'],
    ...own.flatMap((entry) => ['--ro-bind', entry.source, seenEntry(entry)]),
    ...(chat === undefined ? [] : ['--bind', chat, '/chat']),
    ...more,
    ...['--remount-ro', '/', '--chdir', '/scratch'],
  ];
  const limited = limitsCommand(limits, { ownUsers: countsByNamespace(), awaits: true });
  return { options, started: [...limited, ...before, ...argv] };
}

/**
 * Whether the kernel counts processes for each user namespace, as Linux 5.14 and later do. Older ones count for the
 * user.
 */
function countsByNamespace(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}

const programs = 'usr bin sbin lib lib32 lib64 libx32'.split(' ');

/** Kept short, because each mount slows every command. */
const shownOfEtc = [
  'alternatives ld.so.cache ssl/certs ssl/openssl.cnf pki/tls pki/ca-trust/extracted crypto-policies',
  'fonts ghostscript ImageMagick-6 ImageMagick-7 java-17-openjdk java-21-openjdk libreoffice R texmf',
].flatMap((line) => line.split(' '));

const notOfRoot: ReadonlySet<string> = new Set(
  'boot chat dev home media mnt packages proc root run scratch skill sys tmp'.split(' '),
);

/** Files that bwrap reads from descriptors: settings and the system call filter. */
type HandedFiles = Readonly<{
  filters: boolean;
  open(settings: SystemMounts['settings']): Readonly<{
    args: readonly string[];
    /** Passes options by a descriptor, because commands can read bwrap's command line and would see host paths. */
    withOptions(options: readonly string[]): Readonly<{ number: string; files: readonly number[] }>;
    close(): void;
  }>;
  close(): void;
}>;

export function createHandedFiles(first: number, memory: Readonly<{ counted: boolean }>): HandedFiles {
  const settings = [
    ...nameSettings.map(([place, text]) => ({ place, keeps: true, file: createNamelessFile(text) })),
    ...userSettings(sandboxUser, sandboxUser).map(([place, text]) => ({
      place,
      keeps: false,
      file: createNamelessFile(text),
    })),
  ];
  const filter = systemCallFilter(memory);
  const calls = filter === undefined ? undefined : createNamelessFile(filter);
  return {
    filters: calls !== undefined,
    open(how) {
      const files: number[] = [];
      const take = (file: number): string => String(first + files.push(file) - 1);
      const args = settings.flatMap(({ place, keeps, file }) => {
        const made = how(place);
        if (made === 'none' || (made === 'over' && keeps)) return [];
        // A file in a new folder is cheaper than a mount.
        return ['--perms', '0644', made === 'new' ? '--file' : '--ro-bind-data', take(file.open()), place];
      });
      if (calls !== undefined) args.push('--seccomp', take(calls.open()));
      return {
        args,
        withOptions(options) {
          const file = createNamelessFile(options.join('\0'));
          const number = take(file.open());
          file.close();
          return { number, files };
        },
        close: () => files.forEach((file) => closeSync(file)),
      };
    },
    close() {
      for (const { file } of settings) file.close();
      calls?.close();
    },
  };
}

/** A file whose name is removed at once, so that it ends with the process. Linux only. */
type NamelessFile = Readonly<{
  /** Opens the file at its beginning. The caller closes it. */
  open(): number;
  close(): void;
}>;

function createNamelessFile(content: string | Uint8Array): NamelessFile {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-file-'));
  try {
    const name = path.join(folder, 'file');
    writeFileSync(name, content, { mode: 0o600 });
    const kept = openSync(name, 'r');
    return { open: () => openSync(`/proc/self/fd/${kept}`, 'r'), close: () => closeSync(kept) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export type SystemMounts = Readonly<{
  root: string;
  /** How a file of `/etc` appears: new, mounted over the system's, or not at all. */
  settings(file: string): 'new' | 'over' | 'none';
  args: readonly string[];
  cover(hidden: readonly string[]): readonly string[];
}>;

export function systemMounts(rootfs: string | undefined): SystemMounts {
  const root = rootfs === undefined ? '/' : realpathSync(rootfs);
  const names = rootfs === undefined ? programs : readdirSync(root).filter((name) => !notOfRoot.has(name));
  const tops = names.map((name) => path.join(root, name)).filter((top) => isLink(top) || existsSync(top));
  const etc = rootfs === undefined ? shownOfEtc.map((name) => `/etc/${name}`).filter(existsSync) : [];
  const seen = (source: string): string => path.join('/', path.relative(root, source));
  return {
    root,
    settings: (file) => (rootfs === undefined ? 'new' : existsSync(path.join(root, file)) ? 'over' : 'none'),
    args: [
      ...tops.flatMap((top) =>
        isLink(top) ? ['--symlink', readlinkSync(top), seen(top)] : ['--ro-bind', top, seen(top)],
      ),
      ...etc.flatMap((name) => ['--ro-bind', name, name]),
    ],
    cover: (hidden) =>
      hidden
        .filter((each) => existsSync(each))
        .map((each) => realpathSync(each))
        .filter((each) => tops.some((top) => !isLink(top) && each.startsWith(`${top}/`)))
        .flatMap((each) =>
          lstatSync(each).isDirectory()
            ? ['--size', '4096', '--tmpfs', seen(each)]
            : ['--ro-bind', '/dev/null', seen(each)],
        ),
  };
}

function isLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}
