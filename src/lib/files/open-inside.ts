import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync } from 'node:fs';
import { enterFolder, pathOf, standsFor, unlessRefused, usualWay, type Way } from './enter-folder.ts';

/** Where a file is: below `root`, a path of the host, by names that are each one entry. */
export type FilePlace = Readonly<{ root: string; names: readonly string[] }>;

/**
 * Opens a regular file for reading and gives its descriptor. Nothing where a name is absent or a link, or where it is a
 * folder, a device, a pipe or a socket, which are not opened. With `alone` neither is a file that has a second name: it
 * may be one of somewhere else (T13).
 */
export function openInside(
  { root, names }: FilePlace,
  { alone, way = usualWay }: Readonly<{ alone: boolean; way?: Way }>,
): number | undefined {
  const name = names.at(-1);
  if (name === undefined) return undefined;
  const folder = enterFolder(root, names.slice(0, -1), { way });
  if (folder === undefined) return undefined;
  try {
    const entry = folder.at(name);
    return unlessRefused(() =>
      way === 'descriptor' ? openByDescriptor(entry, alone) : openByPath(entry, alone),
    );
  } finally {
    folder.leave();
  }
}

function openByDescriptor(entry: string, alone: boolean): number | undefined {
  const found = openSync(entry, standsFor | constants.O_NOFOLLOW);
  try {
    if (!isWanted(fstatSync(found), alone)) return undefined;
    // Non-blocking: a command that holds a lease on the file could make any other open wait for 45 seconds.
    return openSync(pathOf(found), constants.O_RDONLY | constants.O_NONBLOCK);
  } finally {
    closeSync(found);
  }
}

function openByPath(entry: string, alone: boolean): number | undefined {
  if (!isWanted(lstatSync(entry), alone)) return undefined;
  // Non-blocking, so that a pipe put there meanwhile cannot hold up the bot.
  const opened = openSync(entry, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = fstatSync(opened);
  const now = unlessRefused(() => realpathSync(entry) === entry && lstatSync(entry));
  const same = now !== undefined && now !== false && now.ino === stats.ino && now.dev === stats.dev;
  if (same && isWanted(stats, alone)) return opened;
  closeSync(opened);
  return undefined;
}

function isWanted(stats: Readonly<{ isFile(): boolean; nlink: number }>, alone: boolean): boolean {
  return stats.isFile() && (!alone || stats.nlink === 1);
}
