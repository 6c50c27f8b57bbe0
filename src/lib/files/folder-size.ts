import { chmod, lstat, opendir, stat } from 'node:fs/promises';
import { enterFolder, usualWay } from './enter-folder.ts';

/** Counted for each entry beside its bytes, so that endless empty files are no way round a limit. */
export const perEntry = 512;

/** Folders in folders that are looked into; what lies deeper counts as more than anything may hold. */
export const deepestFolder = 256;

/**
 * Bytes on the disk that a folder and all below it take, 512 for each entry included; counting ends once they are over
 * `enough`. Links are not followed, also where one takes a folder's place meanwhile; folders that commands closed to
 * themselves are opened again, so that nothing is hidden in them. Nothing where there are more than `mostEntries`.
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

/** Gives the bot its rights to a folder of its own back. Not by a path, which may lead elsewhere by now. */
export async function openAgain(self: string): Promise<void> {
  if (usualWay !== 'descriptor') return;
  const { mode, uid } = await stat(self);
  if ((mode & 0o700) !== 0o700 && uid === process.geteuid?.()) await chmod(self, mode | 0o700);
}

function goneMeanwhile(error: unknown): undefined {
  if (error instanceof Error && 'syscall' in error) return undefined;
  throw error;
}
