import { closeSync, constants, lstatSync, mkdirSync, openSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** A folder that was entered: the paths it gives lead into this very folder, whatever its name stands for by now. */
export type EnteredFolder = Readonly<{
  /** A path of an entry, for calls that do not follow links. */
  at(name: string): string;
  /** A path of the folder itself, for reading its entries. */
  self: string;
  leave(): void;
}>;

/**
 * How folders are entered: from an open one to the next (Linux), or by paths that are checked. The latter can be led
 * astray by who swaps a folder for a link between check and use. Where it is used commands have no sandbox that confines
 * real processes: what could swap reads by itself whatever the bot may read.
 */
export type Way = 'descriptor' | 'path';

/** Linux looks names up from an open folder: swapping a folder for a link under the bot's hands leads nowhere (T13). */
export const usualWay: Way = process.platform === 'linux' ? 'descriptor' : 'path';

/**
 * Enters a folder below `root`, one name after another, never through a link. `root` is the host's own path and may be one.
 * Nothing where a name is absent, no folder, or a link. With `make` folders that are absent are made (0700).
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

/** What `work` gives, or nothing where the file system refuses: whatever it says is one answer (R4). */
export function unlessRefused<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return undefined;
    throw error;
  }
}

/** Linux' flag for a descriptor that only stands for something: no device or pipe is opened by it. Node has no name for it. */
export const standsFor = 0x200000;

/** The path of what a descriptor stands for. */
export function pathOf(descriptor: number): string {
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

/** Whatever was overlooked before, a name never leads further than its folder. */
function oneName(name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) throw notThere(name);
  return name;
}

function makeFolder(entry: string): void {
  try {
    mkdirSync(entry, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function notThere(entry: string): Error {
  return Object.assign(new Error(`${entry} can not be entered`), { syscall: 'open', code: 'ENOTDIR' });
}
