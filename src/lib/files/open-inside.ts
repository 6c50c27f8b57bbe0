import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { hasCode } from '../has-code.ts';

/** On Linux, names are resolved from an open folder, so that replacing a folder by a link has no effect (T13). */
export const usualWay: Way = process.platform === 'linux' ? 'descriptor' : 'path';

/** O_PATH of Linux, which Node lacks. It opens neither devices nor pipes. */
const standsFor = 0x200000;

export type FilePlace = Readonly<{ root: string; names: readonly string[] }>;

/**
 * Opens a file for reading. Undefined if a name is absent or a link, or if it is not a file. With `alone` also if it
 * has hard links (T13).
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
    // Without non-blocking, a lease on the file could delay the open by 45 seconds.
    return openSync(pathOf(found), constants.O_RDONLY | constants.O_NONBLOCK);
  } finally {
    closeSync(found);
  }
}

function openByPath(entry: string, alone: boolean): number | undefined {
  if (!isWanted(lstatSync(entry), alone)) return undefined;
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

/** An open folder. Its paths stay valid even if the folder is renamed. */
export type EnteredFolder = Readonly<{
  at(name: string): string;
  self: string;
  leave(): void;
}>;

/**
 * How folders are entered. `path` checks paths, which a swapped folder could mislead. It is used only where commands
 * have no sandbox of real processes.
 */
export type Way = 'descriptor' | 'path';

/**
 * Enters a folder without following links, except for `root`. Undefined if a name is absent or not a folder. With
 * `make` missing ones are created (0700).
 */
export function enterFolder(
  root: string,
  names: readonly string[],
  { make = false, way = usualWay }: Readonly<{ make?: boolean; way?: Way }> = {},
): EnteredFolder | undefined {
  return unlessRefused(() =>
    way === 'descriptor' ? byDescriptor(root, names, make) : byPath(realpathSync(root), names, make),
  );
}

/** Does work on files; undefined for any file system error (R4). */
export function unlessRefused<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return undefined;
    throw error;
  }
}

function pathOf(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}

function byDescriptor(root: string, names: readonly string[], make: boolean): EnteredFolder {
  const { O_DIRECTORY, O_NOFOLLOW } = constants;
  let descriptor = openSync(root, standsFor | O_DIRECTORY);
  try {
    for (const name of names) {
      const entry = `${pathOf(descriptor)}/${oneName(name)}`;
      if (make) makeFolder(entry);
      const next = openSync(entry, standsFor | O_DIRECTORY | O_NOFOLLOW);
      closeSync(descriptor);
      descriptor = next;
    }
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  const self = pathOf(descriptor);
  return { self, at: (name) => `${self}/${oneName(name)}`, leave: () => closeSync(descriptor) };
}

function byPath(root: string, names: readonly string[], make: boolean): EnteredFolder {
  let self = root;
  for (const name of names) {
    self = path.join(self, oneName(name));
    if (make) makeFolder(self);
    if (!lstatSync(self).isDirectory()) throw notThere(self);
  }
  return { self, at: (name) => path.join(self, oneName(name)), leave: () => undefined };
}

/** Checks that a name does not lead out of its folder. */
function oneName(name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) throw notThere(name);
  return name;
}

function makeFolder(entry: string): void {
  try {
    mkdirSync(entry, { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

function notThere(entry: string): Error {
  return Object.assign(new Error(`${entry} can not be entered`), { syscall: 'open', code: 'ENOTDIR' });
}
