import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

/** A disk that can be filled to its last byte, and emptied again. */
export type SmallDisk = Readonly<{
  /** Where it is mounted: 0700. */
  folder: string;
  fill(): void;
  free(): void;
}>;

/** A small file system in memory, mounted for this test; a sentence why not where that takes rights nobody gave. */
export function mountSmallDisk(t: TestContext, size: `${number}m`): SmallDisk | string {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', folder], {
      stdio: 'pipe',
    });
  } catch (error) {
    rmSync(folder, { recursive: true });
    return `a file system can't be mounted here (${error instanceof Error ? error.message.split('\n')[0] : ''})`;
  }
  t.after(() => {
    execFileSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true });
  });
  const ballast = path.join(folder, 'ballast');
  return {
    folder,
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(ballast, Buffer.alloc(bavail * bsize));
    },
    free: () => rmSync(ballast),
  };
}

/** Takes from a running process the right to write beyond a file's first byte (as `ulimit -f 0` would), or gives it back. */
export function limitFileSize(pid: number, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`], { stdio: 'pipe' });
}
