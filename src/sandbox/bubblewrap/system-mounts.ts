import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';

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

const programs = 'usr bin sbin lib lib32 lib64 libx32'.split(' ');
/** Few: each mount makes every command slower. What is left out has a default that does. */
const settings = [
  'alternatives ld.so.cache ssl/certs ssl/openssl.cnf pki/tls pki/ca-trust/extracted crypto-policies',
  'fonts ghostscript ImageMagick-6 ImageMagick-7 java-17-openjdk java-21-openjdk libreoffice R texmf',
].flatMap((line) => line.split(' '));
/** Made anew for each command, or of no use to one. */
const notOfRoot: ReadonlySet<string> = new Set(
  'boot chat dev home media mnt packages proc root run scratch skill sys tmp'.split(' '),
);

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
