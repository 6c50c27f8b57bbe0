import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { oneLine } from '../../core/text.ts';

/** Where `[[plugins]]` says that a plugin is; one of the two. `path` is absolute. */
export type PluginAddress = Readonly<{ path?: string | undefined; package?: string | undefined }>;

/** The file to import, and the folder that its other paths begin in. */
export type FoundPlugin = Readonly<
  { ok: true; file: string; folder: string } | { ok: false; message: string }
>;

const installation = path.join(import.meta.dirname, '../../..');

/**
 * Finds a plugin's file: of a folder its `plugin.ts` or `plugin.js`, of a package its `plugin.js` or what its package.json
 * names as `main`. Packages are looked for in the `node_modules` of `folder` (the config file's) and of the folders above it,
 * then in those of the installation. Nothing is imported.
 */
export function findPlugin(address: PluginAddress, folder: string | undefined): FoundPlugin {
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
  const stats = statSync(at, { throwIfNoEntry: false });
  if (stats === undefined) return missing(`there is no folder ${at}: mend the path, or remove the plugin`);
  if (stats.isFile()) return { ok: true, file: at, folder: path.dirname(at) };
  const file = ['plugin.ts', 'plugin.js'].map((name) => path.join(at, name)).find((one) => existsSync(one));
  if (file === undefined) return missing(`${at} has neither plugin.ts nor plugin.js`);
  return { ok: true, file, folder: at };
}

function inPackage(at: string, name: string): FoundPlugin {
  const own = path.join(at, 'plugin.js');
  if (existsSync(own)) return { ok: true, file: own, folder: at };
  const { main } = manifest.parse(JSON.parse(readFileSync(path.join(at, 'package.json'), 'utf8')));
  const file = main === undefined ? undefined : path.resolve(at, main);
  if (file !== undefined && existsSync(file)) return { ok: true, file, folder: path.dirname(file) };
  const source = existsSync(path.join(at, 'plugin.ts'));
  return missing(
    source
      ? `the package ${name} has plugin.ts only, and packages have to bring JavaScript: its author compiles it to plugin.js, or list its folder outside of node_modules as path`
      : `the package ${name} has no plugin.js, and its package.json names no main file that is there`,
  );
}

const manifest = z.looseObject({ main: z.string().optional().catch(undefined) }).catch({});

function upwards(folder: string): readonly string[] {
  const above = path.dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
}

function missing(message: string): FoundPlugin {
  return { ok: false, message };
}
