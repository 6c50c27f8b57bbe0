import { searchedFolders } from '../bubblewrap/bubblewrap-arguments.ts';
import { findProgram } from '../find-program.ts';
import { hasProgram } from './has-program.ts';
import type { SandboxMode } from '../sandbox.ts';
import { uvPlaces } from './script-packages.ts';

/**
 * Whether commands of a sandbox find a program of this name (P3): in the root file system at `root`, on the host, or among
 * those that the virtual one brings. Node is everywhere but there, and so is uv where the host has it (R7). In a container
 * without a root file system of ours nobody can tell: then it counts as there.
 */
export function findsProgram(mode: SandboxMode, root: string | undefined, program: string): boolean {
  if (mode === 'virtual') return ofVirtual.has(program);
  if (program === 'node') return true;
  if (program === 'uv' || program === 'uvx') return findProgram(program, uvPlaces()) !== undefined;
  if (mode === 'docker' && root === undefined) return true;
  const name = program === 'python' && mode !== 'off' ? 'python3' : program;
  return hasProgram(mode === 'off' ? '/' : (root ?? '/'), searchedFolders, name);
}

/** Those of just-bash that a skill might ask for. */
const ofVirtual: ReadonlySet<string> = new Set(
  'sh bash awk sed grep egrep fgrep rg jq yq xan sqlite3 cat cut sort uniq head tail tr wc tee find xargs diff date base64 md5sum sha1sum sha256sum tar gzip gunzip column join paste tree file'.split(
    ' ',
  ),
);
