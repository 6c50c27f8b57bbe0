import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { OperatorError } from '../../core/errors.ts';
import { nameSettings } from '../bubblewrap/handed-files.ts';
import { installedPackages } from './installed-packages.ts';
import { makeTree } from './make-tree.ts';
import { followRootFileSystem, manifestName, type RootManifest } from './root-file-system.ts';
import { recipeHash, type RootRecipe } from './root-recipe.ts';
import type { RootTool } from './root-tool.ts';

export type BuiltRoot = Readonly<{
  /** `kept`: what is there is by the same recipe. */
  status: 'built' | 'kept';
  manifest: RootManifest;
  path: string;
}>;

const run = promisify(execFile);

/** Folders that a sandbox mounts something on. */
const mountPoints = ['dev', 'proc', 'tmp', 'run', 'skill', 'scratch', 'chat'];

/**
 * Builds the root file system of a recipe in `folder`, unless the one in use is by it and `fresh` is not asked for (R6).
 * It is made aside and takes over whole when its manifest is renamed into place: whatever fails before leaves the one in
 * use as it was, and what a build that died left is removed by the next. Trees that nothing uses any more are removed.
 * Throws OperatorError where it fails, or another build is under way.
 */
export async function buildRoot(options: {
  folder: string;
  recipe: RootRecipe;
  tool: RootTool;
  /** Build again though nothing changed: for newer versions of the packages. */
  fresh?: boolean;
  now: number;
  /** Makes this process the one builder until `release`; throws OperatorError where another builds. */
  lock(file: string, words: Readonly<{ what: string; instead: string }>): Readonly<{ release(): void }>;
  /** Brings what was written in a folder to the disk. */
  flush?(folder: string): Promise<unknown>;
  onLine(line: string): void;
  signal: AbortSignal;
}): Promise<BuiltRoot> {
  const { folder, recipe, tool, fresh = false, now, flush = flushDisk, onLine, signal } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lock = options.lock(path.join(folder, 'build'), {
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
      const manifest: RootManifest = {
        version: 1,
        tree,
        recipe: hash,
        suite: recipe.suite,
        tool: tool.name,
        builtAt: now,
        asked: recipe.asked.map(({ name, skills }) => ({ name, skills: [...skills] })),
        installed: await installedIn(target, recipe),
        bytes: await sizeOf(target),
      };
      signal.throwIfAborted();
      await rename(target, path.join(folder, tree));
      const written = path.join(work, manifestName);
      await writeFile(written, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
      // Everything is on the disk before anything is used.
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

/** Those that its packages brought stay: a link of theirs could lead out of the tree. */
async function writeSettings(tree: string): Promise<void> {
  await mkdir(path.join(tree, 'etc'), { recursive: true });
  for (const [place, text] of nameSettings) {
    await writeFile(path.join(tree, place), text, { flag: 'wx', mode: 0o644 }).catch((error: unknown) => {
      if (!isCode(error, ['EEXIST'])) throw error;
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

/** Removes what builds left and trees that are not `kept`; one that a command still runs in waits for the next build. */
async function sweep(folder: string, kept: string | undefined): Promise<void> {
  for (const { name } of (await readdir(folder, { withFileTypes: true })).filter((entry) =>
    entry.isDirectory(),
  )) {
    if (name === kept || (await isMounted(name))) continue;
    await rm(path.join(folder, name), { recursive: true, force: true });
  }
}

/** Whether any process has a tree of this name, which is a hash, in its mounts. Processes of others can't be asked. */
async function isMounted(name: string): Promise<boolean> {
  const entries = await readdir('/proc').catch(noneIfAbsent);
  for (const entry of entries.filter((each) => /^\d+$/.test(each))) {
    const mounts = await readFile(`/proc/${entry}/mountinfo`, 'utf8').catch(noneIfGone);
    if (mounts.includes(`/${name}/`) || mounts.includes(`/${name} `)) return true;
  }
  return false;
}

function noneIfAbsent(error: unknown): string[] {
  if (isCode(error, ['ENOENT'])) return [];
  throw error;
}

function noneIfGone(error: unknown): string {
  if (isCode(error, ['ENOENT', 'ESRCH', 'EINVAL', 'EACCES', 'EPERM'])) return '';
  throw error;
}

function isCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
