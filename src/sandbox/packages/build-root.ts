import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { OperatorError } from '../../core/errors.ts';
import { defined } from '../../lib/json/json-values.ts';
import { nameSettings } from '../inside-sandbox.ts';
import { followRootFileSystem, manifestName, type RootManifest } from './available-packages.ts';
import { installedPackages } from './debian-packages.ts';
import { recipeHash, type RootRecipe, type RootTool } from './root-recipe.ts';
import { hasCode } from '../../lib/has-code.ts';

const keptLines = 200;
const shownLines = 15;

/** Folders that are useless in a read-only tree. */
const leftBehind = ['dev', 'proc', 'sys', 'run', 'tmp', 'var/cache', 'var/lib/apt', 'var/log', 'boot'];

export type BuiltRoot = Readonly<{
  /** `kept` means that the existing tree has the same recipe. */
  status: 'built' | 'kept';
  manifest: RootManifest;
  path: string;
}>;

const run = promisify(execFile);

const mountPoints = ['dev', 'proc', 'tmp', 'run', 'skill', 'scratch', 'chat'];

/**
 * Builds the recipe's root file system in `folder` unless it is current (R6). It is built separately and swapped in by
 * renaming the manifest, so a failure changes nothing. Leftovers and unused trees are removed. Throws OperatorError on
 * failure, or if another build runs.
 */
export async function buildRoot(
  options: {
    folder: string;
    recipe: RootRecipe;
    /** Rebuilds even if nothing changed, for newer packages. */
    fresh?: boolean;
    now: number;
    signal: AbortSignal;
  },
  deps: {
    tool: RootTool;
    /** Throws OperatorError if another process builds. */
    lock(file: string, words: Readonly<{ what: string; instead: string }>): Readonly<{ release(): void }>;
    flush?(folder: string): Promise<unknown>;
    onLine(line: string): void;
  },
): Promise<BuiltRoot> {
  const { folder, recipe, fresh = false, now, signal } = options;
  const { tool, flush = flushDisk, onLine } = deps;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lock = deps.lock(path.join(folder, 'build'), {
    what: `the building of ${folder}`,
    instead: 'another [bot] data_dir',
  });
  try {
    const hash = recipeHash(recipe);
    const current = followRootFileSystem(folder)();
    await sweep(folder, current?.manifest.tree);
    if (current !== undefined && current.manifest.recipe === hash && !fresh)
      return { status: 'kept', manifest: current.manifest, path: current.path };

    const work = path.join(folder, '.building');
    const target = path.join(work, 'made');
    await mkdir(target, { recursive: true, mode: 0o755 });
    try {
      await makeTree({ recipe, tool, work, target, onLine, signal });
      for (const name of mountPoints) await mkdir(path.join(target, name), { recursive: true });
      await writeSettings(target);
      const tree = current?.manifest.tree === hash ? `${hash}-${now.toString(36)}` : hash;
      const manifest = await manifestOf(target, recipe, { tree, tool: tool.name, builtAt: now });
      signal.throwIfAborted();
      await rename(target, path.join(folder, tree));
      const written = path.join(work, manifestName);
      await writeFile(written, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
      await flush(folder);
      await rename(written, path.join(folder, manifestName));
      return { status: 'built', manifest, path: path.join(folder, tree) };
    } finally {
      await sweep(folder, followRootFileSystem(folder)()?.manifest.tree);
    }
  } finally {
    lock.release();
  }
}

async function manifestOf(
  target: string,
  recipe: RootRecipe,
  built: Readonly<{ tree: string; tool: RootManifest['tool']; builtAt: number }>,
): Promise<RootManifest> {
  return {
    version: 1,
    tree: built.tree,
    recipe: recipeHash(recipe),
    suite: recipe.suite,
    tool: built.tool,
    builtAt: built.builtAt,
    asked: recipe.asked.map(({ name, skills }) => ({ name, skills: [...skills] })),
    installed: await installedIn(target, recipe),
    bytes: await sizeOf(target),
  };
}

/** Writes settings, but keeps existing files, because a package's link could lead out of the tree. */
async function writeSettings(tree: string): Promise<void> {
  await mkdir(path.join(tree, 'etc'), { recursive: true });
  for (const [place, text] of nameSettings) {
    await writeFile(path.join(tree, place), text, { flag: 'wx', mode: 0o644 }).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  }
}

function flushDisk(folder: string): Promise<unknown> {
  return run('sync', ['--file-system', folder]);
}

async function installedIn(tree: string, { packages }: RootRecipe): Promise<string[]> {
  const installed = installedPackages(await readFile(path.join(tree, 'var/lib/dpkg/status'), 'utf8'));
  const absent = packages.filter((name) => !installed.has(name));
  if (absent.length > 0)
    throw new OperatorError(
      `the tree was made without ${absent.join(', ')}; the one in use stays as it is. Try again with --fresh`,
    );
  return [...installed].toSorted();
}

async function sizeOf(tree: string): Promise<number> {
  const { stdout } = await run('du', ['--summarize', '--block-size=1', tree]);
  return Number.parseInt(stdout, 10);
}

/** Removes trees in the folder that no process uses. */
export async function sweep(folder: string, kept: string | undefined): Promise<void> {
  for (const { name } of (await readdir(folder, { withFileTypes: true })).filter((entry) =>
    entry.isDirectory(),
  )) {
    if (name === kept || (await isMounted(name))) continue;
    await rm(path.join(folder, name), { recursive: true, force: true });
  }
}

/** Whether a tree is mounted, by the mounts of all readable processes. If that can't be told, it counts as mounted. */
async function isMounted(name: string): Promise<boolean> {
  const entries = await readdir('/proc').catch(noneIfAbsent);
  if (!entries.includes(String(process.pid))) return true;
  for (const entry of entries.filter((each) => /^\d+$/.test(each))) {
    const mounts = await readFile(`/proc/${entry}/mountinfo`, 'utf8').catch(noneIfGone);
    if (mounts.includes(`/${name}/`) || mounts.includes(`/${name} `)) return true;
  }
  return false;
}

function noneIfAbsent(error: unknown): string[] {
  if (hasCode(error, 'ENOENT')) return [];
  throw error;
}

function noneIfGone(error: unknown): string {
  if (hasCode(error, 'ENOENT', 'ESRCH', 'EINVAL', 'EACCES', 'EPERM')) return '';
  throw error;
}

/**
 * Unpacks a tool's tree into the empty `target`: with our owner, without setuid and devices. Throws OperatorError with
 * the fix.
 */
async function makeTree(options: {
  recipe: RootRecipe;
  tool: RootTool;
  work: string;
  target: string;
  onLine(line: string): void;
  signal: AbortSignal;
}): Promise<void> {
  const { recipe, tool, work, target, onLine, signal } = options;
  const [program, ...args] = tool.command(recipe, work);
  const env = environment(work);
  const maker = spawn(program, args, {
    cwd: '/',
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    signal,
    // `unshare` ignores other signals. Without it the tool cleans up.
    killSignal: process.getuid?.() === 0 ? 'SIGKILL' : 'SIGTERM',
  });
  const unpacker = spawn('sh', ['-c', 'umask 022; exec tar "$@"', 'sh', ...unpackOptions(target)], {
    env,
    stdio: ['pipe', 'ignore', 'pipe'],
    signal,
  });
  const [said, unpackerSaid] = [follow(maker.stderr, onLine), follow(unpacker.stderr, () => undefined)];
  maker.stdin.on('error', () => undefined).end(`${recipe.sources.join('\n')}\n`);
  const [made, unpacked] = await Promise.allSettled([
    ended(maker),
    ended(unpacker),
    pipeline(maker.stdout, unpacker.stdin),
  ]);
  signal.throwIfAborted();
  if (made.status === 'rejected') throw made.reason;
  if (made.value !== 0) throw new OperatorError(explain(said, recipe, tool));
  if (unpacked.status === 'rejected') throw unpacked.reason;
  if (unpacked.value !== 0)
    throw new OperatorError(`the tree could not be unpacked:\n${lastOf(unpackerSaid)}`);
}

function follow(input: Readable, onLine: (line: string) => void): readonly string[] {
  const said: string[] = [];
  createInterface({ input }).on('line', (line) => {
    said.push(line);
    if (said.length > keptLines) said.shift();
    onLine(line);
  });
  return said;
}

/** The exit code of a program. Rejects if it could not be started. */
async function ended(child: ChildProcess): Promise<number> {
  const closed: readonly unknown[] = await once(child, 'close');
  return typeof closed[0] === 'number' ? closed[0] : 1;
}

function environment(work: string): Readonly<Record<string, string>> {
  const proxies = ['http_proxy', 'https_proxy', 'no_proxy'].flatMap((name): [string, string][] => {
    const value = process.env[name] ?? process.env[name.toUpperCase()];
    return value === undefined ? [] : [[name, value]];
  });
  return defined({
    PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`,
    LC_ALL: 'C.UTF-8',
    DEBIAN_FRONTEND: 'noninteractive',
    // An ordinary user's tool runs under other ids, which can't enter our folders.
    TMPDIR: process.getuid?.() === 0 ? work : undefined,
    ...Object.fromEntries(proxies),
  });
}

function unpackOptions(target: string): readonly string[] {
  return [
    '--extract',
    '--file=-',
    `--directory=${target}`,
    '--no-same-owner',
    '--no-same-permissions',
    ...leftBehind.map((name) => `--exclude=./${name}/*`),
  ];
}

function explain(said: readonly string[], { suite, asked }: RootRecipe, { name: tool }: RootTool): string {
  const all = said.join('\n');
  const [, unknown] =
    /E: (?:Unable to locate package |Package '?|Couldn't find any package by (?:glob|regex) ')([a-z0-9][a-z0-9+.-]+)/.exec(
      all,
    ) ?? [];
  const skills = asked.find(({ name }) => name === unknown)?.skills ?? [];
  if (unknown !== undefined && skills.length > 0) {
    const off = skills.map((skill) => `[skills.${skill}] enabled = false`).join(', ');
    return `there is no package ${unknown} in ${suite}, which ${skills.join(' and ')} ask${skills.length === 1 ? 's' : ''} for: correct \`packages\` in that SKILL.md, or switch the skill off (${off}), and build again`;
  }
  if (/Temporary failure resolving|Could not resolve|Could not connect|Unable to connect/.test(all))
    return `the archive could not be reached; the sources are those of /etc/apt. ${tool} said:\n${lastOf(said)}`;
  if (/unshare: .*(Operation not permitted|failed)/.test(all))
    return `${tool} may not make namespaces here (a container without CAP_SYS_ADMIN?): build where it may, and copy the folder rootfs of the data directory here. It said:\n${lastOf(said)}`;
  return `${tool} failed:\n${lastOf(said)}`;
}

function lastOf(said: readonly string[]): string {
  return said.slice(-shownLines).join('\n');
}
