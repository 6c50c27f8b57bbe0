import { randomBytes } from 'node:crypto';
import { lstatSync, unlinkSync } from 'node:fs';
import { mkdir, readdir, rename, rm, rmdir, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { folderSize } from '../lib/files/list-inside.ts';
import { enterFolder, unlessRefused } from '../lib/files/open-inside.ts';
import { removeFolder } from '../lib/files/write-inside.ts';
import { ifAbsent } from '../lib/has-code.ts';
import type { Folders, Shelf } from './folders.ts';

const dayMs = 86_400_000;

/** Makes folders on the disk of the only process, where nothing else has to be stored. */
export function createPlainFolders(root: string): Folders {
  const at = (folder: string): string => path.join(root, folder);
  return {
    root,
    use: (_folders, _how, work) => work(),
    list: async (group) => (await namesIn(at(group))).map((name) => `${group}/${name}`),
    size: async (folder, enough) => (await folderSize(at(folder), enough)) ?? Infinity,
    async remove(folders) {
      for (const folder of folders) await removeFolder(at(folder));
    },
    async removeFile(folder, name, before = Infinity) {
      const entered = enterFolder(at(folder), []);
      unlessRefused(() => {
        if (entered !== undefined && lstatSync(entered.at(name)).mtimeMs < before)
          unlinkSync(entered.at(name));
      });
      entered?.leave();
    },
    async tidy(group, before, mayGo) {
      const failures: unknown[] = [];
      for (const name of (await namesIn(at(group))).filter(mayGo)) {
        const folder = path.join(at(group), name);
        const stats = await stat(folder).catch(ifAbsent);
        // Commands can set one of these times, but not both.
        const touched = stats === undefined ? before : Math.min(stats.mtimeMs, stats.ctimeMs);
        if (touched < before) await removeFolder(folder).catch((error: unknown) => failures.push(error));
      }
      if (failures.length > 0)
        throw new AggregateError(failures, `${failures.length} folders could not be removed`);
    },
    shelf: createPlainShelf(at),
  };
}

function createPlainShelf(at: (folder: string) => string): Shelf {
  return {
    draft: (folder) => draftIn(at(folder)),
    keep: (folder, name, draft) => rename(draft, path.join(at(folder), name)),
    async find(folder, name, use = false) {
      const file = path.join(at(folder), name);
      const stats = await stat(file).catch(ifAbsent);
      if (stats === undefined) return undefined;
      const now = Date.now();
      if (use && stats.mtimeMs < now - dayMs)
        await utimes(file, new Date(now), new Date(now)).catch(ifAbsent);
      return file;
    },
    names: (folder) => namesIn(at(folder)),
    async remove(folder, names) {
      for (const name of names) await rm(path.join(at(folder), name), { force: true });
    },
    uses: (group) => usesIn(at(group), group),
    async sweep(group, before) {
      for (const name of await namesIn(at(group))) {
        const folder = path.join(at(group), name);
        const stats = await stat(folder).catch(ifAbsent);
        const isOld = stats?.isDirectory() === true && stats.mtimeMs < before;
        if (isOld && (await namesIn(folder)).length === 0) await rmdir(folder);
      }
    },
  };
}

/** Creates the folder if needed (0700) and returns a new path in it. */
export async function draftIn(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return path.join(folder, `${randomBytes(6).toString('hex')}.part`);
}

/** Uses of files in a group's folders, or in a group that is itself a folder. */
async function usesIn(directory: string, group: string): Promise<Awaited<ReturnType<Shelf['uses']>>> {
  const found: { folder: string; path: string; usedAt: number }[] = [];
  for (const name of await namesIn(directory)) {
    const stats = await stat(path.join(directory, name)).catch(ifAbsent);
    if (stats?.isDirectory() === true)
      found.push(...(await usesIn(path.join(directory, name), `${group}/${name}`)));
    else if (stats !== undefined) found.push({ folder: group, path: name, usedAt: stats.mtimeMs });
  }
  return found;
}

export async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(ifAbsent)) ?? [];
}
