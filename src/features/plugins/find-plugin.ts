import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { changeableByOthers } from '../../lib/files/changeable-by-others.js';
import { installation } from '../../lib/files/installation.js';
import { oneLine } from '../../lib/text/text.ts';

/** Where a plugin is. One of the two is set; `path` is absolute. */
export type PluginAddress = Readonly<{ path?: string | undefined; package?: string | undefined }>;

/** `file` is what to import; other paths of the plugin are relative to `folder`. */
type FoundPlugin = Readonly<{ ok: true; file: string; folder: string } | { ok: false; message: string }>;

/**
 * Finds a plugin's file: `plugin.ts` or `plugin.js` of a folder; `plugin.js` or `main` of a package. Packages are
 * searched from `folder` (the config file's) upwards, then in the installation. Refuses what users other than root
 * could change (S10). Imports nothing.
 */
export function findPlugin(address: PluginAddress, folder: string | undefined): FoundPlugin {
  const found = lookFor(address, folder);
  const problem = found.ok ? changeableByOthers(found.file) : undefined;
  return problem === undefined ? found : missing(`others could change what it runs: ${problem}`);
}

function lookFor(address: PluginAddress, folder: string | undefined): FoundPlugin {
  if (address.path !== undefined) return inFolder(address.path);
  const name = address.package ?? '';
  if (!/^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/.test(name))
    return missing(`${JSON.stringify(oneLine(name, 80))} is no name of an npm package`);
  const roots = [...(folder === undefined ? [] : [folder]), installation];
  const found = roots.flatMap(upwards).map((root) => path.join(root, 'node_modules', name));
  const at = found.find((candidate) => existsSync(path.join(candidate, 'package.json')));
  if (at !== undefined) return inPackage(at, name);
  const where = folder ?? installation;
  return missing(`the package ${name} is not installed: run npm install ${name} in ${where}`);
}

function inFolder(at: string): FoundPlugin {
  const there = lookAt(at);
  if (there === 'nothing') return missing(`there is no folder ${at}: fix the path, or remove the plugin`);
  if (there === 'file')
    return /\.[cm]?[jt]s$/.test(at)
      ? { ok: true, file: at, folder: path.dirname(at) }
      : missing(`${at} is no TypeScript or JavaScript: write the folder of its plugin.ts`);
  if (there !== 'folder') return missing(`${at} can't be read (${there.problem}): fix the path`);
  const file = ['plugin.ts', 'plugin.js'].map((name) => path.join(at, name)).find(isFile);
  if (file === undefined) return missing(`${at} has neither plugin.ts nor plugin.js`);
  return { ok: true, file, folder: at };
}

function inPackage(at: string, name: string): FoundPlugin {
  const own = path.join(at, 'plugin.js');
  if (isFile(own)) return { ok: true, file: own, folder: at };
  const main = mainOf(path.join(at, 'package.json'));
  if (typeof main === 'object')
    return missing(`the package.json of ${name} can't be read (${main.problem}): install it again`);
  const file = main === undefined ? undefined : path.resolve(at, main);
  if (file !== undefined && isFile(file)) return { ok: true, file, folder: path.dirname(file) };
  return missing(
    isFile(path.join(at, 'plugin.ts'))
      ? `the package ${name} has plugin.ts only, and packages have to bring JavaScript: its author compiles it to plugin.js, or list its folder outside of node_modules as path`
      : `the package ${name} has no plugin.js, and its package.json names no main file that is there`,
  );
}

type Problem = Readonly<{ problem: string }>;

function mainOf(file: string): string | undefined | Problem {
  try {
    return manifest.parse(JSON.parse(readFileSync(file, 'utf8'))).main;
  } catch (error) {
    return problemOf(error);
  }
}

const manifest = z.looseObject({ main: z.string().optional().catch(undefined) }).catch({});

function isFile(at: string): boolean {
  return lookAt(at) === 'file';
}

/** What lies at a path. A device is a problem. */
function lookAt(at: string): 'nothing' | 'file' | 'folder' | Problem {
  try {
    const stats = statSync(at, { throwIfNoEntry: false });
    if (stats === undefined) return 'nothing';
    if (stats.isFile()) return 'file';
    return stats.isDirectory() ? 'folder' : { problem: 'it is neither file nor folder' };
  } catch (error) {
    return problemOf(error);
  }
}

function problemOf(error: unknown): Problem {
  return { problem: oneLine(error instanceof Error ? error.message : String(error), 200) };
}

function upwards(folder: string): readonly string[] {
  const above = path.dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
}

function missing(message: string): FoundPlugin {
  return { ok: false, message };
}
