import {
  closeSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemCallFilter } from './system-calls.ts';

const programs = 'usr bin sbin lib lib32 lib64 libx32'.split(' ');

/** Few: each mount makes every command slower. What is left out has a default that does. */
const settings = [
  'alternatives ld.so.cache ssl/certs ssl/openssl.cnf pki/tls pki/ca-trust/extracted crypto-policies',
  'fonts ghostscript ImageMagick-6 ImageMagick-7 java-17-openjdk java-21-openjdk libreoffice R texmf',
].flatMap((line) => line.split(' '));

/** Made again for each command, or of no use to one. */
const notOfRoot: ReadonlySet<string> = new Set(
  'boot chat dev home media mnt packages proc root run scratch skill sys tmp'.split(' '),
);

/** Files that bwrap reads from descriptors: settings of the sandbox, and its system calls. */
export type HandedFiles = Readonly<{
  /** Whether system calls are filtered: not on every processor. */
  filters: boolean;
  /** Opens them for one command. */
  open(settings: SystemMounts['settings']): Readonly<{
    args: readonly string[];
    /** Adds a file of bwrap's options: commands can read its command line, and options name paths of the host. */
    withOptions(options: readonly string[]): Readonly<{ number: string; files: readonly number[] }>;
    close(): void;
  }>;
  close(): void;
}>;

/** By these `localhost` is found. A system that has them keeps its own; builds add them. */
export const nameSettings = [
  ['/etc/hosts', '127.0.0.1 localhost\n::1 localhost\n'],
  ['/etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'],
] as const;

/** Keeps those files for all commands; `first` is the number that the first of them gets in bwrap. */
export function createHandedFiles(
  user: number,
  first: number,
  memory: Readonly<{ counted: boolean }>,
): HandedFiles {
  const settings = [
    ...nameSettings.map((each) => [...each, 'kept'] as const),
    [
      '/etc/passwd',
      `skillet:x:${user}:${user}::/scratch:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n`,
      'replaced',
    ] as const,
    ['/etc/group', `skillet:x:${user}:\nnogroup:x:65534:\n`, 'replaced'] as const,
  ].map(([place, text, present]) => ({ place, present, file: createNamelessFile(text) }));
  const filter = systemCallFilter(memory);
  const calls = filter === undefined ? undefined : createNamelessFile(filter);
  return {
    filters: calls !== undefined,
    open(how) {
      const files: number[] = [];
      const take = (file: number): string => String(first + files.push(file) - 1);
      const args = settings.flatMap(({ place, present, file }) => {
        const made = how(place);
        if (made === 'none' || (made === 'over' && present === 'kept')) return [];
        // A file in a folder of the sandbox's own is cheaper than a mount.
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

/** A file without a name: it is gone with the process. Linux only. */
type NamelessFile = Readonly<{
  /** Opened again to be read from its beginning; the caller closes it. */
  open(): number;
  close(): void;
}>;

/** Keeps some bytes where another program can be handed them as an open file. */
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

/** What a sandbox sees of a system: its programs and libraries, and of `/etc` what programs need to start. */
export type SystemMounts = Readonly<{
  /** Folder of the host that holds the system. */
  root: string;
  /** How a file of `/etc` gets there: made new, mounted over the system's own, or not at all where that has none. */
  settings(file: string): 'new' | 'over' | 'none';
  /** Arguments of bwrap. */
  args: readonly string[];
  /** Arguments of bwrap that cover files and folders which lie within the system. */
  cover(hidden: readonly string[]): readonly string[];
}>;

/** The system as commands see it, read-only: the host's own, or the one in `rootfs` (T9, R6). */
export function systemMounts(rootfs: string | undefined): SystemMounts {
  const root = rootfs === undefined ? '/' : realpathSync(rootfs);
  const names = rootfs === undefined ? programs : readdirSync(root).filter((name) => !notOfRoot.has(name));
  const tops = names.map((name) => path.join(root, name)).filter((top) => isLink(top) || existsSync(top));
  const etc = rootfs === undefined ? settings.map((name) => `/etc/${name}`).filter(existsSync) : [];
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
