import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const memory = '/dev/shm';
const neededBytes = 2 ** 31;

/** A new folder in memory for everybody's temporary files: waiting for the disk takes processor time too. Nothing where there is not enough of it, or programs may not be run from there. */
export function folderInMemory(): string | undefined {
  if (!existsSync(memory)) return undefined;
  const { bavail, bsize } = statfsSync(memory);
  if (bavail * bsize < neededBytes) return undefined;
  const folder = mkdtempSync(path.join(memory, 'skillet-'));
  // As that of the system: the database server of the tests is another user's.
  chmodSync(folder, 0o1777);
  const program = path.join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  const { status } = spawnSync(program);
  rmSync(program);
  if (status === 0) return folder;
  rmSync(folder, { recursive: true });
  return undefined;
}
