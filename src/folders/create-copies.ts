import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { ifAbsent } from '../lib/has-code.ts';
import type { Signals } from '../store/signals.ts';
import type { StoredFiles } from '../store/stored-files.ts';
import { createCopiedShelf } from './copied-shelf.ts';
import { createCopy, type Copy } from './copy.ts';
import type { Folders, FolderUse } from './folders.ts';
import { namesIn } from './plain-folders.ts';

const hourMs = 3_600_000;
/** A copy that nobody used for this long is removed, and fetched again if needed. */
const unusedMs = 24 * hourMs;

export type CopiesOptions = Readonly<{
  files: StoredFiles;
  signals: Signals;
  /** Absolute path of the copies. No other process uses it. */
  root: string;
  /** How many bytes a folder may hold. */
  quota: number;
  /** Called if a copy could not be removed. A later tidying tries again. */
  onFault(error: unknown): void;
}>;

/** Makes folders that are kept in the store, with local copies to work in (Q14). */
export function createCopies(options: CopiesOptions): Folders {
  const { files, signals, root, onFault } = options;
  const { of: copyOf, known, drop } = createKnownCopies(options);
  const at = (folder: string): string => path.join(root, folder);

  async function tellOf(folders: readonly string[]): Promise<void> {
    for (const folder of folders) {
      await drop(folder);
      await signals.send('files', folder);
    }
  }

  async function tidyCopies(group: string): Promise<void> {
    const stored = new Set(await files.list(group));
    for (const name of await namesIn(at(group))) {
      const folder = `${group}/${name}`;
      const copy = known(folder);
      if (copy?.isUsed() === true) continue;
      const { ctimeMs = 0 } = (await stat(at(folder)).catch(ifAbsent)) ?? {};
      const unused = Date.now() - Math.max(copy?.usedAt() ?? 0, ctimeMs);
      if (unused > (stored.has(folder) ? unusedMs : hourMs)) await drop(folder).catch(onFault);
    }
  }

  signals.on('files', (text) => {
    const [folder, name] = read(text);
    if (folder === undefined) return;
    if (name === undefined) drop(folder).catch(onFault);
    else rm(path.join(at(folder), name), { force: true }).catch(onFault);
  });

  return {
    root,
    use: (folders, how, work) =>
      useCopies(new Map(folders.map((folder) => [folder, copyOf(folder)])), { how, files }, work),
    list: files.list,
    size: (folder) => files.size([folder]),
    async remove(folders) {
      await files.remove(folders);
      await tellOf(folders);
    },
    async removeFile(folder, name, before) {
      await files.removeFiles(folder, [name], before);
      await tellOf([folder]);
    },
    async tidy(group, before, mayGo) {
      const candidates = (await files.list(group)).filter((folder) => mayGo(path.basename(folder)));
      await tellOf(await files.removeUnused(candidates, before));
      await tidyCopies(group);
    },
    shelf: createCopiedShelf(files, at, (folder, name) => signals.send('files', `${folder} ${name}`)),
  };
}

/** The copies that this process used, by the name of the folder. */
function createKnownCopies(options: CopiesOptions): Readonly<{
  of(folder: string): Copy;
  known(folder: string): Copy | undefined;
  drop(folder: string): Promise<void>;
}> {
  const { root } = options;
  const copies = new Map<string, Copy>();

  function copyOf(folder: string): Copy {
    const known = copies.get(folder);
    if (known !== undefined) return known;
    const index = path.join(root, '.index', `${folder}.json`);
    const copy = createCopy(folder, { root: path.join(root, folder), index }, options);
    copies.set(folder, copy);
    return copy;
  }

  return {
    of: copyOf,
    known: (folder) => copies.get(folder),
    async drop(folder) {
      const copy = copyOf(folder);
      await copy.drop();
      if (!copy.isUsed()) copies.delete(folder);
    },
  };
}

/** Asks the store once about all copies. Each is given back however the work ends. */
async function useCopies<Result>(
  copies: ReadonlyMap<string, Copy>,
  { how, files }: Readonly<{ how: FolderUse; files: StoredFiles }>,
  work: () => Promise<Result>,
): Promise<Result> {
  const versions = await files.versions([...copies.keys()]);
  const taken: Copy[] = [];
  async function takeAndWork(): Promise<Result> {
    for (const [name, copy] of copies) {
      await copy.take(versions.get(name), how);
      taken.push(copy);
    }
    return work();
  }
  const [worked] = await Promise.allSettled([takeAndWork()]);
  const given = await Promise.allSettled(taken.map((copy) => copy.give(how)));
  if (worked.status === 'rejected') throw worked.reason;
  for (const outcome of given) if (outcome.status === 'rejected') throw outcome.reason;
  return worked.value;
}

/** Reads a signal strictly, because anybody may have sent it: its path can't lead out of the folders. */
function read(text: string): readonly [folder: string | undefined, name: string | undefined] {
  const found = /^([a-z]+(?:\/[\w-]+)?)(?: ([\w-][\w.-]*))?$/.exec(text);
  return [found?.[1], found?.[2]];
}
