import { lstatSync, rmdirSync, unlinkSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { enterFolder, unlessRefused } from '../../lib/files/enter-folder.ts';
import { deepestFolder, openAgain, perEntry } from '../../lib/files/folder-size.ts';
import { removeFolder } from '../../lib/files/remove-folder.ts';

type Entry = Readonly<{
  below: readonly string[];
  name: string;
  size: number;
  changed: number;
  isFolder: boolean;
}>;

/**
 * Removes from a folder what was written last, until `excess` bytes are gone (512 counted for each name), and folders that
 * are empty then. By open folders, so that no link leads elsewhere: commands of another run may still be at work in it.
 */
export async function trimFolder(folder: string, excess: number): Promise<void> {
  const entries = await entriesOf(folder);
  const files = entries.filter(({ isFolder }) => !isFolder).sort((a, b) => b.changed - a.changed);
  const folders = entries.filter(({ isFolder }) => isFolder).sort((a, b) => b.below.length - a.below.length);
  let left = excess;
  for (const { below, name, size } of files) {
    if (left <= 0) return;
    if (removed(folder, below, (at) => unlinkSync(at(name)))) left -= size;
  }
  for (const { below, name, size } of folders) {
    if (left <= 0) return;
    if (removed(folder, below, (at) => rmdirSync(at(name)))) left -= size;
  }
}

async function entriesOf(folder: string): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  const waiting: (readonly string[])[] = [[]];
  for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
    const entered = enterFolder(folder, below);
    if (entered === undefined) continue;
    try {
      await openAgain(entered.self).catch(ignoreRefusal);
      for await (const { name } of (await opendir(entered.self).catch(ignoreRefusal)) ?? []) {
        const stats = unlessRefused(() => lstatSync(entered.at(name)));
        if (stats === undefined) continue;
        const isFolder = stats.isDirectory();
        if (isFolder && below.length >= deepestFolder) {
          // Nobody needs folders that deep; what is in them can't be told apart any more.
          await removeFolder(entered.at(name).replace('/self/', `/${process.pid}/`));
          continue;
        }
        entries.push({ below, name, size: perEntry + stats.blocks * 512, changed: stats.ctimeMs, isFolder });
        if (isFolder) waiting.push([...below, name]);
      }
    } finally {
      entered.leave();
    }
  }
  return entries;
}

function removed(
  folder: string,
  below: readonly string[],
  remove: (at: (name: string) => string) => void,
): boolean {
  const entered = enterFolder(folder, below);
  if (entered === undefined) return false;
  try {
    return unlessRefused(() => (remove(entered.at), true)) === true;
  } finally {
    entered.leave();
  }
}

function ignoreRefusal(error: unknown): undefined {
  if (error instanceof Error && 'syscall' in error) return undefined;
  throw error;
}
