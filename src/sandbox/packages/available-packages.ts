import { readFileSync, statSync, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { searchedFolders } from '../bubblewrap/bubblewrap-arguments.ts';
import { findProgram, hasProgram } from '../find-program.ts';
import { installedPackages } from './debian-packages.ts';
import type { RootFileSystem } from './root-file-system.ts';
import { uvPlaces } from './script-packages.ts';
import type { SandboxMode } from '../sandbox.ts';

/** Those of just-bash that a skill might ask for. */
const ofVirtual: ReadonlySet<string> = new Set(
  'sh bash awk sed grep egrep fgrep rg jq yq xan sqlite3 cat cut sort uniq head tail tr wc tee find xargs diff date base64 md5sum sha1sum sha256sum tar gzip gunzip column join paste tree file'.split(
    ' ',
  ),
);

/** Whose packages a sandbox's commands have: its own root file system's, an image's, the host's, or none. */
export type AvailablePackages = Readonly<{
  from: 'root' | 'image' | 'host' | 'nowhere';
  has(name: string): boolean;
  /** Whether a program of this name can be started. */
  runs(program: string): boolean;
  /** Whether Python has a package of this name on PyPI; in a container without our root nobody can tell, so it counts as there. */
  imports(name: string): boolean;
}>;

/**
 * Gives what commands of a sandbox find installed now (P3, R6): nothing in the virtual one; in bubblewrap what is in the
 * root file system, or on the host while none is built; in containers what is in that or in an image; on the host with
 * the sandbox off. What was built or installed meanwhile counts at the next call; a call costs a look at the times of two
 * files.
 */
export function followAvailablePackages(options: {
  mode: SandboxMode;
  /** Of a system that is neither. */
  installed?: ReadonlySet<string>;
  root(): Pick<RootFileSystem, 'path' | 'installed'> | undefined;
  /** Where the host's dpkg keeps what is installed. */
  hostStatus?: string;
}): () => AvailablePackages {
  const { mode, installed, root, hostStatus = '/var/lib/dpkg/status' } = options;
  const host = followHost(hostStatus);
  return () => {
    const built = mode === 'off' || mode === 'virtual' || installed !== undefined ? undefined : root();
    const runs = (program: string): boolean => findsProgram(mode, built?.path, program);
    const imports =
      mode === 'virtual'
        ? () => false
        : mode === 'docker' && built === undefined
          ? () => true
          : pythonPackagesIn(built?.path ?? '/');
    const of = { runs, imports };
    if (installed !== undefined) return { from: 'image', has: (name) => installed.has(name), ...of };
    if (mode === 'virtual') return { from: 'nowhere', has: () => false, ...of };
    if (built !== undefined) return { from: 'root', has: (name) => built.installed.has(name), ...of };
    // A container has neither the host's programs nor, without a root file system, any of ours.
    if (mode === 'docker') return { from: 'nowhere', has: () => false, ...of };
    const names = host();
    return { from: 'host', has: (name) => names.has(name), ...of };
  };
}

/** On a host without dpkg nothing is installed: its packages have other names. */
function followHost(file: string): () => ReadonlySet<string> {
  let seen: bigint | undefined;
  let names: ReadonlySet<string> = new Set();
  return () => {
    const now = statSync(file, { throwIfNoEntry: false, bigint: true })?.mtimeNs;
    if (now !== seen) {
      seen = now;
      names = now === undefined ? new Set() : installedPackages(readFileSync(file, 'utf8'));
    }
    return names;
  };
}

/**
 * Whether commands of a sandbox find a program of this name (P3): in the root file system at `root`, on the host, or among
 * those that the virtual one brings. Node is everywhere but there, and so is uv where the host has it (R7). In a container
 * without a root file system of ours nobody can tell: then it counts as there.
 */
function findsProgram(mode: SandboxMode, root: string | undefined, program: string): boolean {
  if (mode === 'virtual') return ofVirtual.has(program);
  if (program === 'node') return true;
  if (program === 'uv' || program === 'uvx') return findProgram(program, uvPlaces()) !== undefined;
  if (mode === 'docker' && root === undefined) return true;
  const name = program === 'python' && mode !== 'off' ? 'python3' : program;
  return hasProgram(mode === 'off' ? '/' : (root ?? '/'), searchedFolders, name);
}

/** Tells of packages of PyPI whether the Python of a system has them installed, by what pip and dpkg leave beside them. */
export function pythonPackagesIn(root: string): (name: string) => boolean {
  let found: ReadonlySet<string> | undefined;
  return (name) => (found ??= new Set(folders(root).flatMap(installedIn))).has(normalized(name));
}

function folders(root: string): readonly string[] {
  const local = path.join(root, 'usr/local/lib');
  const versions = existsSync(local) ? readdirSync(local).filter((name) => name.startsWith('python3')) : [];
  return [
    path.join(root, 'usr/lib/python3/dist-packages'),
    ...versions.flatMap((name) =>
      ['dist-packages', 'site-packages'].map((last) => path.join(local, name, last)),
    ),
  ];
}

function installedIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((entry) => {
    const [, name] = /^(.+?)-[^-]+(?:-py3[^-]*)?\.(?:dist|egg)-info$/.exec(entry) ?? [];
    return name === undefined ? [] : [normalized(name)];
  });
}

/** PyPI takes these for the same name. */
function normalized(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-');
}
