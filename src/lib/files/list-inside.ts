import { lstatSync, opendirSync } from 'node:fs';
import { enterFolder, unlessRefused, type EnteredFolder, type Way } from './enter-folder.ts';

/** One entry of a folder, by its path from where the listing began. */
export type ListedFile = Readonly<
  { path: string; kind: 'file'; size: number } | { path: string; kind: 'folder' }
>;

export type Listing = Readonly<{
  /** In path order. */
  entries: readonly ListedFile[];
  /** There are more, or some lie deeper. */
  cut: boolean;
}>;

const entryLimit = 200;
const depthLimit = 4;
/** Entries looked at, whatever becomes of them: a folder may hold millions. */
const lookLimit = 5_000;

/**
 * Lists regular files and folders below a folder, four levels deep, at most 200. Links, devices and pipes are left out, and
 * dot folders and `node_modules` not entered. Nothing where the folder is absent or behind a link (T13).
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
