import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../lib/json/json-values.ts';
import { findProgram, hasProgram, searchedFolders } from '../inside-sandbox.ts';
import type { SandboxMode } from '../sandbox.ts';
import { installedPackages } from './debian-packages.ts';
import { uvPlaces } from './script-packages.ts';

const manifestShape = z.object({
  version: z.literal(1),
  tree: z.string().regex(/^[a-z0-9][a-z0-9-]*$/),
  recipe: z.string(),
  suite: z.string(),
  tool: z.string(),
  /** When it was built, in milliseconds since 1970. */
  builtAt: z.number(),
  asked: z.array(z.object({ name: z.string(), skills: z.array(z.string()) })),
  installed: z.array(z.string()),
  bytes: z.number(),
});

/** What `manifest.json` contains. Replacing the file switches trees. */
export type RootManifest = z.output<typeof manifestShape>;

export type RootFileSystem = Readonly<{
  manifest: RootManifest;
  path: string;
  installed: ReadonlySet<string>;
}>;

export function rootFolder(dataDir: string): string {
  return path.join(path.resolve(dataDir), 'rootfs');
}

export const manifestName = 'manifest.json';

/** Follows the root file system; undefined without a readable manifest. Each call costs one stat. */
export function followRootFileSystem(folder: string): () => RootFileSystem | undefined {
  const file = path.join(folder, manifestName);
  let seen: string | undefined;
  let current: RootFileSystem | undefined;
  return () => {
    const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
    const now = stat === undefined ? undefined : `${stat.ino}:${stat.mtimeNs}:${stat.size}`;
    if (now !== seen) {
      seen = now;
      current = now === undefined ? undefined : readRoot(folder, file);
    }
    return current;
  };
}

function readRoot(folder: string, file: string): RootFileSystem | undefined {
  // An unknown manifest counts as none, and the next build replaces it.
  const parsed = manifestShape.safeParse(parseJson(readFileSync(file, 'utf8')));
  if (!parsed.success) return undefined;
  const tree = path.join(folder, parsed.data.tree);
  if (statSync(tree, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  return { manifest: parsed.data, path: tree, installed: new Set(parsed.data.installed) };
}

const ofVirtual: ReadonlySet<string> = new Set(
  'sh bash awk sed grep egrep fgrep rg jq yq xan sqlite3 cat cut sort uniq head tail tr wc tee find xargs diff date base64 md5sum sha1sum sha256sum tar gzip gunzip column join paste tree file'.split(
    ' ',
  ),
);

export type AvailablePackages = Readonly<{
  from: 'root' | 'image' | 'host' | 'nowhere';
  has(name: string): boolean;
  runs(program: string): boolean;
  /** Whether Python can import a package, by its PyPI name. Always true in containers of a foreign image. */
  imports(name: string): boolean;
}>;

/**
 * Follows which programs and packages commands find (P3, R6). virtual: nothing; bubblewrap: the root file system,
 * otherwise the host; containers: that or an image; off: the host. Each call costs two stats.
 */
export function followAvailablePackages(options: {
  mode: SandboxMode;
  installed?: ReadonlySet<string>;
  root(): Pick<RootFileSystem, 'path' | 'installed'> | undefined;
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
    if (mode === 'docker') return { from: 'nowhere', has: () => false, ...of };
    const names = host();
    return { from: 'host', has: (name) => names.has(name), ...of };
  };
}

/** Names of the host's packages; empty without dpkg, because other systems name packages differently. */
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
 * Whether commands find a program (P3). All sandboxes but the virtual one have Node and the host's uv (R7). Foreign
 * images count as having every program.
 */
function findsProgram(mode: SandboxMode, root: string | undefined, program: string): boolean {
  if (mode === 'virtual') return ofVirtual.has(program);
  if (program === 'node') return true;
  if (program === 'uv' || program === 'uvx') return findProgram(program, uvPlaces()) !== undefined;
  if (mode === 'docker' && root === undefined) return true;
  const name = program === 'python' && mode !== 'off' ? 'python3' : program;
  return hasProgram(mode === 'off' ? '/' : (root ?? '/'), searchedFolders, name);
}

/** Tells which Python packages are installed, by the metadata of pip and dpkg. */
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

/** PyPI treats these spellings as one name. */
function normalized(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-');
}
