import { chmodSync, lstatSync, readdirSync, readlinkSync, type BigIntStats } from 'node:fs';
import { createYieldToEventLoop } from '../lib/async/mutex.ts';
import { deepestFolder, openAgain } from '../lib/files/list-inside.ts';
import { enterFolder, unlessRefused, type EnteredFolder } from '../lib/files/open-inside.ts';
import { FolderFull } from './folders.ts';

/** What is at a path now. `mark` tells whether it changed since. */
export type Seen = Readonly<{
  kind: 'file' | 'folder' | 'link';
  executable: boolean;
  size: number;
  changedAt: number;
  target: string;
  /** Size, times in nanoseconds and inode number as one text; empty if it may still change unnoticed. */
  mark: string;
}>;

/** With more entries an index gets slow. */
const mostEntries = 50_000;
/** In bytes. A longer path can't be a key in the database. */
const longestPath = 1_500;
/** Clocks of file systems tick more coarsely than their nanoseconds suggest. */
const unsureNs = 20_000_000n;

/**
 * Lists a folder without following links, and opens folders whose permissions are closed. It leaves out sockets,
 * devices, pipes and names that are not UTF-8 (Q14). Returns nothing if the folder is absent. Throws FolderFull.
 */
export async function scanFolder(root: string): Promise<ReadonlyMap<string, Seen>> {
  const found = new Map<string, Seen>();
  const yields = createYieldToEventLoop();
  const since = BigInt(Date.now()) * 1_000_000n - unsureNs;
  const waiting: (readonly string[])[] = [[]];
  for (let names = waiting.pop(); names !== undefined; names = waiting.pop()) {
    await yields();
    const folder = enterFolder(root, names);
    if (folder === undefined) continue;
    try {
      await openAgain(folder.self).catch(() => undefined);
      for (const [name, seen] of entriesOf(folder, since)) {
        const path = [...names, name].join('/');
        if (
          found.size >= mostEntries ||
          names.length > deepestFolder ||
          Buffer.byteLength(path) > longestPath
        )
          throw new FolderFull(tooMuch);
        found.set(path, seen);
        if (seen.kind === 'folder') waiting.push([...names, name]);
      }
    } finally {
      folder.leave();
    }
  }
  return found;
}

const tooMuch = `a folder has more than ${mostEntries} files, or a path of more than ${longestPath} bytes. What was written last is not kept: pack many files into one archive`;

function* entriesOf(folder: EnteredFolder, since: bigint): Generator<readonly [string, Seen]> {
  for (const name of unlessRefused(() => readdirSync(folder.self)) ?? []) {
    const seen = unlessRefused(() => seenAt(folder.at(name), since));
    if (seen !== undefined) yield [name, seen];
  }
}

/**
 * Looks at one path. A file that changed after `since`, in nanoseconds, may change again unnoticed and gets no mark.
 * Undefined for what is not stored.
 */
export function seenAt(entry: string, since: bigint): Seen | undefined {
  const stats = lstatSync(entry, { bigint: true });
  const kind = kindOf(stats);
  if (kind === undefined) return undefined;
  const { size, mtimeMs, mtimeNs, ctimeNs, ino, mode } = stats;
  // A command may have taken away its own permission to read the file.
  if (kind === 'file' && (mode & 0o400n) === 0n) chmodSync(entry, Number(mode & 0o777n) | 0o600);
  const mark = ctimeNs > since ? '' : [size, mtimeNs, ctimeNs, ino].join(' ');
  return {
    kind,
    executable: kind === 'file' && (mode & 0o100n) !== 0n,
    size: kind === 'file' ? Number(size) : 0,
    changedAt: Number(mtimeMs),
    target: kind === 'link' ? readlinkSync(entry) : '',
    mark: kind === 'file' ? mark : '',
  };
}

function kindOf(stats: BigIntStats): Seen['kind'] | undefined {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  return stats.isSymbolicLink() ? 'link' : undefined;
}
