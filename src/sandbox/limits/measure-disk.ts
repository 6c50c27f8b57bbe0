import { execFile } from 'node:child_process';
import { existsSync, lstatSync, rmdirSync, unlinkSync } from 'node:fs';
import { readFile, readdir, stat, opendir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { folderSize, perEntry, deepestFolder, openAgain } from '../../lib/files/list-inside.ts';
import { enterFolder, unlessRefused } from '../../lib/files/open-inside.ts';
import { removeFolder } from '../../lib/files/write-inside.ts';

const run = promisify(execFile);
const env = { PATH: process.env['PATH'] };

export const bytesPerName = perEntry;
/** Larger folders are left to `du`, which takes milliseconds to start. */
const fewEntries = 100;
const folderItself = 4096 + perEntry;

/** Bytes that a folder takes on disk, with 512 for each name. */
export async function measureFolder(folder: string): Promise<number> {
  const size = await folderSize(folder, Infinity, fewEntries);
  if (size !== undefined) return size + folderItself;
  const [[bytes = 0], [names = 0]] = await Promise.all([
    measureFolders([folder]),
    measureFolders([folder], 'names'),
  ]);
  return bytes + names * bytesPerName;
}

/**
 * Bytes on disk, or the number of `names`, measured by `du`. It follows no links and handles paths of any length.
 * Folders that commands keep closing count as endless.
 */
export async function measureFolders(
  folders: readonly string[],
  what: 'bytes' | 'names' = 'bytes',
): Promise<readonly number[]> {
  const first = await askDu(folders, what);
  if (!first.closed) return first.sums;
  // The second try shows which folders stay closed.
  await run('chmod', ['-R', 'u+rwX', '--', ...folders], { env }).catch(() => undefined);
  const second = await askDu(folders, what);
  return second.closed ? folders.map(() => Infinity) : second.sums;
}

async function askDu(
  folders: readonly string[],
  what: 'bytes' | 'names',
): Promise<Readonly<{ sums: readonly number[]; closed: boolean }>> {
  const unit = what === 'bytes' ? '-k' : '--inodes';
  const { stdout, stderr } = await run('du', ['-s', '-x', unit, '--', ...folders], { env }).catch(
    (error: unknown) => {
      // It reports vanished or closed folders, and still prints sums.
      if (error instanceof Error && 'stdout' in error && 'stderr' in error && 'code' in error)
        if (typeof error.code === 'number')
          return { stdout: String(error.stdout), stderr: String(error.stderr) };
      throw error;
    },
  );
  const sums = new Map(
    [...stdout.matchAll(/^(\d+)\t(.*)$/gm)].map(([, sum, folder]) => [folder, Number(sum)]),
  );
  // A folder that a command removed holds nothing. One that exists was not measured.
  const unmeasured = folders.find((folder) => !sums.has(folder) && existsSync(folder));
  if (unmeasured !== undefined) throw new Error(`du says nothing of ${unmeasured}: ${stderr.trim()}`);
  return {
    sums: folders.map((folder) => (sums.get(folder) ?? 0) * (what === 'bytes' ? 1024 : 1)),
    closed: /permission denied/i.test(stderr),
  };
}

/** Bytes of deleted files that processes keep open or mapped, memfds included. Only root sees mapped files. */
export async function measureNameless(ids: readonly number[]): Promise<number> {
  const files = new Map<string, number>();
  for (const id of ids) {
    for (const place of [...(await openFiles(id)), ...(await mappedFiles(id))]) {
      const file = await unlessClosed(stat(place));
      if (file?.isFile() === true && file.nlink === 0)
        files.set(`${file.dev}:${file.ino}`, file.blocks * 512);
    }
  }
  return [...files.values()].reduce((sum, each) => sum + each, 0);
}

async function openFiles(id: number): Promise<readonly string[]> {
  const folder = `/proc/${id}/fd`;
  return ((await unlessClosed(readdir(folder))) ?? []).map((fd) => `${folder}/${fd}`);
}

/** One address for each file, because thousands of its parts may be mapped. */
async function mappedFiles(id: number): Promise<readonly string[]> {
  const places = new Map<string, string>();
  const maps = (await unlessClosed(readFile(`/proc/${id}/maps`, 'latin1'))) ?? '';
  for (const [, range = '', file = ''] of maps.matchAll(/^(\S+) \S+ \S+ (\S+ \d+) .* \(deleted\)$/gm))
    places.set(file, `/proc/${id}/map_files/${range}`);
  return [...places.values()];
}

async function unlessClosed<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/** What a folder may hold. One that held more before a command began may keep that, but not grow. */
export type Room = Readonly<{
  bytes: number;
  /**
   * Whether anything in the folder was written since. A file that was written before may take more space later, because
   * file systems allocate late.
   */
  wasUsed(): Promise<boolean>;
}>;

export async function roomIn(folder: string, bytes: number): Promise<Room> {
  const held = await measureFolder(folder);
  if (held <= bytes) return { bytes, wasUsed: () => Promise.resolve(true) };
  const before = await stateOf(folder);
  return { bytes: held, wasUsed: async () => (await stateOf(folder)) !== before };
}

/** A text that differs after each write. Times alone have too coarse a clock. */
async function stateOf(folder: string): Promise<string> {
  const entries = await entriesOf(folder);
  const newest = entries.reduce((latest, { changed }) => Math.max(latest, changed), 0);
  const length = entries.reduce((sum, each) => sum + each.length, 0);
  return `${entries.length} ${length} ${newest}`;
}

type Entry = Readonly<{
  below: readonly string[];
  name: string;
  /** Bytes that it takes on disk. */
  size: number;
  length: number;
  changed: number;
  isFolder: boolean;
}>;

/**
 * Removes the newest files until `excess` bytes are gone (512 for each name), then empty folders. It works through open
 * folders, so that no link leads elsewhere, because other commands may still run.
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
          // Too deep to look at its entries one by one.
          await removeFolder(entered.at(name).replace('/self/', `/${process.pid}/`));
          continue;
        }
        const size = perEntry + stats.blocks * 512;
        entries.push({ below, name, size, length: stats.size, changed: stats.ctimeMs, isFolder });
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
