import { lstat, opendir } from 'node:fs/promises';
import path from 'node:path';

/** Counted for each entry beside its bytes, so that endless empty files are no way round a limit. */
const perEntry = 512;

/** Bytes on the disk that a folder and all below it take; counting ends once they are over `enough`. Links are not followed. */
export async function folderSize(folder: string, enough: number): Promise<number> {
  let size = 0;
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined && size <= enough; next = folders.pop()) {
    const open = await opendir(next).catch(goneMeanwhile);
    if (open === undefined) continue;
    for await (const entry of open) {
      const file = path.join(next, entry.name);
      const stats = await lstat(file).catch(goneMeanwhile);
      size += perEntry + (stats?.blocks ?? 0) * 512;
      if (size > enough) break;
      if (stats?.isDirectory() === true) folders.push(file);
    }
  }
  return size;
}

function goneMeanwhile(error: unknown): undefined {
  if (error instanceof Error && 'syscall' in error) return undefined;
  throw error;
}
