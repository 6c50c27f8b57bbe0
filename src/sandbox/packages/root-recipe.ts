import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { OperatorError } from '../../core/errors.ts';

const followed = /^(stable|oldstable|testing|unstable|sid)$/;

/** What a root file system is made of: the same recipe, the same tree but for newer versions of its packages. */
export type RootRecipe = Readonly<{
  suite: string;
  sources: readonly string[];
  /** Debian packages that skills ask for, sorted, each with the names of those skills. */
  asked: readonly Readonly<{ name: string; skills: readonly string[] }>[];
  /** Everything to install beside Debian's essential packages (bash, coreutils, tar, …): the base and what is asked. */
  packages: readonly string[];
}>;

/**
 * What is in every root file system: python3 runs the `.py` scripts of skills that declare nothing, ca-certificates lets
 * programs check who they talk to, libstdc++6 is what the bot's own Node, lent to `.js` and `.ts` scripts, is linked with.
 * A shell and the usual small programs are essential in Debian and need no naming.
 */
export const basePackages: readonly string[] = ['ca-certificates', 'libstdc++6', 'python3'];

/** Debian's own rule for names, and no `-` at the end: to apt that would be a wish to remove. */
const packageName = /^[a-z0-9][a-z0-9+.-]*[a-z0-9+.]$/;

/** The union of what these skills declare, as a recipe (R6). Throws OperatorError for a name that is none. */
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

/** Names a recipe: another suite, archive, package or processor gives another name; other skills that ask the same do not. */
export function recipeHash({ suite, sources, packages }: RootRecipe): string {
  const what = { form: 1, architecture: process.arch, suite, sources, packages };
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 16);
}

/** A Debian archive as apt is told of it, in apt's one-line form. */
type AptSources = Readonly<{
  /** The release packages are taken from: `bookworm`, `noble`. */
  suite: string;
  /** `deb [options] URI SUITE COMPONENT…`, in the order of the files. */
  lines: readonly string[];
}>;

/**
 * The host's own apt sources of its own release and that release's updates (R6). Sources of others (a vendor's archive)
 * are left out: a package is the distribution's, and an archive of somebody else needs keys that are not everywhere.
 * Throws OperatorError where the host has none.
 */
export function aptSources(root = '/'): AptSources {
  const release = readRelease(path.join(root, 'etc/os-release'));
  const sources = readSources(path.join(root, 'etc/apt'));
  const of = (suite: string): readonly Source[] =>
    sources.filter(({ suite: name }) => name === suite || name.startsWith(`${suite}-`));
  // A machine that follows `stable` writes that word, whatever the release is called today.
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
  // A relative of Debian or Ubuntu has a name of its own, and installs from the archive of the other.
  return field('UBUNTU_CODENAME') ?? field('DEBIAN_CODENAME') ?? field('VERSION_CODENAME');
}

function readSources(folder: string): readonly Source[] {
  const parts = path.join(folder, 'sources.list.d');
  const names = listOr(parts).toSorted();
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

/** The newer form (deb822): stanzas of `Field: value`, continued by lines that begin with a space. */
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
      // A key written into the file itself has no one-line form; apt then looks among those it trusts.
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
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return absent;
    throw error;
  }
}

function listOr(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
