import { execFile } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Bytes on the disk, or `names` (files and folders), that each folder holds. By `du`, which follows no link and knows
 * paths of any length: commands change the folder while it is walked. What vanishes meanwhile counts nothing.
 */
export async function measureFolders(
  folders: readonly string[],
  what: 'bytes' | 'names' = 'bytes',
): Promise<readonly number[]> {
  const unit = what === 'bytes' ? '-k' : '--inodes';
  const { stdout } = await run('du', ['-s', '-x', unit, '--', ...folders], {
    env: { PATH: process.env['PATH'] },
  }).catch((error: unknown) => {
    // It complains of what vanished, and tells the sums all the same.
    if (error instanceof Error && 'stdout' in error && 'code' in error && typeof error.code === 'number')
      return { stdout: String(error.stdout) };
    throw error;
  });
  const sums = new Map(
    [...stdout.matchAll(/^(\d+)\t(.*)$/gm)].map(([, sum, folder]) => [folder, Number(sum)]),
  );
  return folders.map((folder) => (sums.get(folder) ?? 0) * (what === 'bytes' ? 1024 : 1));
}

/** Bytes of files that have no name any more and are kept open by these processes, memory files included. */
export function measureNameless(ids: readonly number[]): number {
  const files = new Map(ids.flatMap(openFiles).map((file) => [`${file.dev}:${file.ino}`, file.blocks * 512]));
  return [...files.values()].reduce((sum, each) => sum + each, 0);
}

function openFiles(id: number): readonly Readonly<{ dev: number; ino: number; blocks: number }>[] {
  try {
    return readdirSync(`/proc/${id}/fd`).flatMap((fd) => {
      const file = statSync(`/proc/${id}/fd/${fd}`, { throwIfNoEntry: false });
      return file?.isFile() === true && file.nlink === 0 ? [file] : [];
    });
  } catch (error) {
    // The process ended, or may not be looked at.
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}
