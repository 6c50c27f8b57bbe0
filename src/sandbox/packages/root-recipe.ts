import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { findProgram } from '../inside-sandbox.ts';

const followed = /^(stable|oldstable|testing|unstable|sid)$/;

export type RootRecipe = Readonly<{
  suite: string;
  sources: readonly string[];
  asked: readonly Readonly<{ name: string; skills: readonly string[] }>[];
  /**
   * All packages with those of the base, sorted. Debian's essential packages (bash, coreutils, tar, …) are always
   * installed.
   */
  packages: readonly string[];
}>;

/** Packages of every tree: python3 for `.py` scripts, ca-certificates for HTTPS, libstdc++6 for the bot's Node. */
const basePackages: readonly string[] = ['ca-certificates', 'libstdc++6', 'python3'];

/** Matches package names by Debian's rule, but without `-` at the end, by which apt would remove the package. */
const packageName = /^[a-z0-9][a-z0-9+.-]*[a-z0-9+.]$/;

/** The recipe for the packages of all skills (R6). Throws OperatorError for an invalid name. */
export function rootRecipe(
  skills: readonly Readonly<{ name: string; packages: readonly string[] }>[],
  { suite, lines }: AptSources,
): RootRecipe {
  const asking = new Map<string, string[]>();
  for (const skill of skills) {
    for (const name of new Set(skill.packages)) {
      if (!packageName.test(name)) {
        throw new OperatorError(
          `the skill ${skill.name} asks for the package ${JSON.stringify(name)}, which can't be a Debian package's name: correct \`packages\` in its SKILL.md`,
        );
      }
      asking.set(name, [...(asking.get(name) ?? []), skill.name]);
    }
  }
  const names = [...asking.keys()].toSorted();
  return {
    suite,
    sources: lines,
    asked: names.map((name) => ({ name, skills: (asking.get(name) ?? []).toSorted() })),
    packages: [...new Set([...basePackages, ...names])].toSorted(),
  };
}

/** A hash of a recipe, which does not depend on which skills want a package. */
export function recipeHash({ suite, sources, packages }: RootRecipe): string {
  const what = { form: 1, architecture: process.arch, suite, sources, packages };
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 16);
}

type AptSources = Readonly<{
  suite: string;
  /** Sources in the one-line form `deb [options] URI SUITE COMPONENT…`. */
  lines: readonly string[];
}>;

/**
 * The host's sources for its release and updates (R6), without archives of others, which need keys. Throws
 * OperatorError if there are none.
 */
export function aptSources(root = '/'): AptSources {
  const release = readRelease(path.join(root, 'etc/os-release'));
  const sources = readSources(path.join(root, 'etc/apt'));
  const of = (suite: string): readonly Source[] =>
    sources.filter(({ suite: name }) => name === suite || name.startsWith(`${suite}-`));
  const words = [release, ...sources.map(({ suite }) => suite).filter((name) => followed.test(name))];
  const named = words.find((word) => word !== undefined && of(word).length > 0);
  if (named === undefined) {
    throw new OperatorError(
      `no apt sources of this system's release (${release ?? 'unknown'}) are in ${path.join(root, 'etc/apt')}: packages are taken from where this machine installs its own, so it takes Debian or a relative of it with a line such as "deb http://deb.debian.org/debian ${release ?? 'stable'} main" in /etc/apt/sources.list`,
    );
  }
  return { suite: named, lines: of(named).map(({ line }) => line) };
}

type Source = Readonly<{ suite: string; line: string }>;

function readRelease(file: string): string | undefined {
  const text = readOr(file, '');
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}="?([a-z]+)"?\\s*$`, 'm').exec(text)?.[1];
  // Derivatives install from the archive of their parent.
  return field('UBUNTU_CODENAME') ?? field('DEBIAN_CODENAME') ?? field('VERSION_CODENAME');
}

function readSources(folder: string): readonly Source[] {
  const parts = path.join(folder, 'sources.list.d');
  const names = existsSync(parts) ? readdirSync(parts).toSorted() : [];
  return [
    ...oneLineSources(readOr(path.join(folder, 'sources.list'), '')),
    ...names.flatMap((name) => {
      if (name.endsWith('.list')) return oneLineSources(readOr(path.join(parts, name), ''));
      if (name.endsWith('.sources')) return stanzaSources(readOr(path.join(parts, name), ''));
      return [];
    }),
  ];
}

function oneLineSources(text: string): readonly Source[] {
  return text.split('\n').flatMap((line) => {
    const plain = line.replace(/#.*$/, '').trim().replace(/\s+/g, ' ');
    const [, suite] = /^deb (?:\[[^\]]*\] )?\S+ (\S+) \S/.exec(plain) ?? [];
    return suite === undefined ? [] : [{ suite, line: plain }];
  });
}

/** Reads deb822: stanzas of `Field: value`, continued by indented lines. */
function stanzaSources(text: string): readonly Source[] {
  const stanzas = text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .split(/\n[ \t]*\n/);
  return stanzas.flatMap((stanza) => {
    const fields = new Map(
      [...stanza.matchAll(/^([A-Za-z-]+):((?:.*)(?:\n[ \t].*)*)/gm)].map(([, name = '', value = '']) => [
        name.toLowerCase(),
        value.trim(),
      ]),
    );
    const words = (name: string): readonly string[] => (fields.get(name) ?? '').split(/\s+/).filter(Boolean);
    if (!words('types').includes('deb') || /^(no|false|0)$/i.test(fields.get('enabled') ?? 'yes')) return [];
    const components = words('components');
    const key = fields.get('signed-by') ?? '';
    const options = [
      // An inline key has no one-line form, so apt uses its trusted keys.
      ...(/^\/\S+$/.test(key) ? [`signed-by=${key}`] : []),
      ...(/^(yes|true|1)$/i.test(fields.get('trusted') ?? '') ? ['trusted=yes'] : []),
      ...(words('architectures').length > 0 ? [`arch=${words('architectures').join(',')}`] : []),
    ];
    const before = options.length === 0 ? 'deb' : `deb [${options.join(' ')}]`;
    return words('uris').flatMap((uri) =>
      words('suites').map((suite) => ({ suite, line: [before, uri, suite, ...components].join(' ') })),
    );
  });
}

function readOr(file: string, absent: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : absent;
}

/**
 * A program that reads apt sources from standard input, writes a tar to standard output, and logs to standard error.
 */
export type RootTool = Readonly<{
  name: string;
  command(recipe: RootRecipe, work: string): readonly [program: string, ...rest: string[]];
}>;

type FoundRootTool =
  | Readonly<{ ok: true; tool: RootTool }>
  | Readonly<{ ok: false; /** Says what to install. */ message: string }>;

/**
 * Finds mmdebstrap, to run as root or with subordinate ids (R6). It ends with the bot, and as root has its own mount
 * namespace.
 */
export function findRootTool(
  options: { searchPath?: string; uid?: number; subordinateIds?: boolean } = {},
): FoundRootTool {
  const {
    searchPath = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`,
    uid = process.getuid?.() ?? 0,
    subordinateIds = hasSubordinateIds(),
  } = options;
  const [mmdebstrap, newuidmap] = ['mmdebstrap', 'newuidmap'].map((name) => findProgram(name, searchPath));
  const asRoot = uid === 0;
  if (mmdebstrap !== undefined && (asRoot || (subordinateIds && newuidmap !== undefined)))
    return { ok: true, tool: byMmdebstrap(mmdebstrap, asRoot) };
  if (asRoot) return { ok: false, message: 'install mmdebstrap: apt-get install mmdebstrap' };
  const { username } = userInfo();
  const steps = [
    ...(mmdebstrap === undefined || newuidmap === undefined ? ['apt-get install mmdebstrap uidmap'] : []),
    ...(subordinateIds
      ? []
      : [`usermod --add-subuids 100000-165535 --add-subgids 100000-165535 ${username}`]),
  ];
  const message = `run this command as root, or make it work for ${username}: ${steps.join(' && ')} (as root)`;
  return { ok: false, message };
}

/** A process that dies with its parent and leaves no mounts. */
const alone = ['unshare', '--mount', '--pid', '--fork', '--kill-child'];

/** Half of a small tree, which no program needs. */
const leaveOut = ['doc', 'man', 'info', 'locale', 'lintian'];

const mergedHook = '/usr/share/mmdebstrap/hooks/maybe-merged-usr';

function byMmdebstrap(program: string, asRoot: boolean): RootTool {
  return {
    name: 'mmdebstrap',
    command: ({ suite, packages }) => [
      'setpriv',
      '--pdeathsig',
      asRoot ? 'KILL' : 'TERM',
      ...(asRoot ? alone : []),
      program,
      '--verbose',
      `--mode=${asRoot ? 'root' : 'unshare'}`,
      '--variant=essential',
      '--format=tar',
      ...(existsSync(mergedHook) ? [`--hook-directory=${mergedHook}`] : []),
      ...leaveOut.map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
      `--include=${packages.join(',')}`,
      '--',
      suite,
      '-',
      '-',
    ],
  };
}

function hasSubordinateIds(): boolean {
  const { username, uid } = userInfo();
  return ['/etc/subuid', '/etc/subgid'].every(
    (file) =>
      existsSync(file) &&
      readFileSync(file, 'utf8')
        .split('\n')
        .some((line) => line.startsWith(`${username}:`) || line.startsWith(`${uid}:`)),
  );
}
