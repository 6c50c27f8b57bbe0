import { readFileSync, statSync } from 'node:fs';
import { findsProgram } from './finds-program.ts';
import { installedPackages } from './installed-packages.ts';
import { pythonPackagesIn } from './python-packages.ts';
import type { RootFileSystem } from './root-file-system.ts';
import type { SandboxMode } from '../sandbox.ts';

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
  root(): RootFileSystem | undefined;
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
