import { lstatSync, opendirSync } from 'node:fs';
import { chmod, lstat, opendir, stat } from 'node:fs/promises';
import { enterFolder, unlessRefused, usualWay, type EnteredFolder, type Way } from './open-inside.ts';

/** Bytes that each entry counts besides its content, so that endless empty files reach the limit. */
export const perEntry = 512;

/** A folder with more levels than this counts as endless. */
export const deepestFolder = 256;

export type ListedFile = Readonly<
  { path: string; kind: 'file'; size: number } | { path: string; kind: 'folder' }
>;

export type Listing = Readonly<{
  entries: readonly ListedFile[];
  cut: boolean;
}>;

const entryLimit = 200;
const depthLimit = 4;
const lookLimit = 5_000;

/**
 * Lists four levels and at most 200 files. It leaves out links, devices, pipes, dot folders and `node_modules`.
 * Undefined if the folder is absent or behind a link (T13).
 */
export function listInside(root: string, names: readonly string[], way?: Way): Listing | undefined {
  const found: ListedFile[] = [];
  const state = { cut: false, looked: 0 };
  const how = way === undefined ? {} : { way };

  const enter = (below: readonly string[]): boolean => {
    const folder = enterFolder(root, [...names, ...below], how);
    if (folder === undefined) return false;
    try {
      read(folder, below);
      return true;
    } finally {
      folder.leave();
    }
  };

  const read = (folder: EnteredFolder, below: readonly string[]): void => {
    const inside: string[] = [];
    for (const name of namesIn(folder, state)) {
      const stats = unlessRefused(() => lstatSync(folder.at(name)));
      const path = [...below, name].join('/');
      if (stats === undefined || !(stats.isFile() || stats.isDirectory())) continue;
      if (found.length >= entryLimit) {
        state.cut = true;
        return;
      }
      found.push(stats.isFile() ? { path, kind: 'file', size: stats.size } : { path, kind: 'folder' });
      if (stats.isDirectory() && !name.startsWith('.') && name !== 'node_modules') inside.push(name);
    }
    if (below.length + 1 >= depthLimit) state.cut ||= inside.length > 0;
    else for (const name of inside) enter([...below, name]);
  };

  if (!enter([])) return undefined;
  return { entries: found.sort((a, b) => (a.path < b.path ? -1 : 1)), cut: state.cut };
}

function namesIn(folder: EnteredFolder, state: { cut: boolean; looked: number }): readonly string[] {
  const names: string[] = [];
  const open = unlessRefused(() => opendirSync(folder.self));
  if (open === undefined) return names;
  try {
    for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
      if (++state.looked > lookLimit) {
        state.cut = true;
        break;
      }
      names.push(entry.name);
    }
  } finally {
    open.closeSync();
  }
  return names.sort();
}

/**
 * Bytes of a folder on disk, with 512 for each entry. Counting stops above `enough`. It follows no links and opens
 * folders whose permissions are closed. Undefined if there are more than `mostEntries` entries.
 */
export async function folderSize(
  folder: string,
  enough: number,
  mostEntries = Infinity,
): Promise<number | undefined> {
  let size = 0;
  let entries = 0;
  const waiting: (readonly string[])[] = [[]];
  for (let names = waiting.pop(); names !== undefined && size <= enough; names = waiting.pop()) {
    if (names.length > deepestFolder) return enough + 1;
    const entered = enterFolder(folder, names);
    if (entered === undefined) continue;
    try {
      await openAgain(entered.self).catch(goneMeanwhile);
      for await (const { name } of (await opendir(entered.self).catch(goneMeanwhile)) ?? []) {
        const stats = await lstat(entered.at(name)).catch(goneMeanwhile);
        size += perEntry + (stats?.blocks ?? 0) * 512;
        if (++entries > mostEntries) return undefined;
        if (size > enough) break;
        if (stats?.isDirectory() === true) waiting.push([...names, name]);
      }
    } finally {
      entered.leave();
    }
  }
  return size;
}

export async function openAgain(self: string): Promise<void> {
  if (usualWay !== 'descriptor') return;
  const { mode, uid } = await stat(self);
  if ((mode & 0o700) !== 0o700 && uid === process.geteuid?.()) await chmod(self, mode | 0o700);
}

function goneMeanwhile(error: unknown): undefined {
  if (error instanceof Error && 'syscall' in error) return undefined;
  throw error;
}
