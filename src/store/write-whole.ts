import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { freeSpace } from '../lib/files/free-space.ts';
import { OperatorError } from '../core/errors.ts';

/**
 * Makes a new file (0600) that `write` fills beside its place and that is then renamed. So the file is never incomplete
 * and nothing is overwritten (Q10). If something fails, it throws OperatorError and removes what it wrote.
 */
export async function writeWhole(file: string, write: (part: string) => Promise<void>): Promise<void> {
  refuseTaken(file);
  const part = `${file}.${randomUUID().slice(0, 8)}.part`;
  try {
    closeSync(openSync(part, 'wx', 0o600));
    await write(part);
    chmodSync(part, 0o600);
    // Fails if somebody else has taken the name meanwhile.
    closeSync(openSync(file, 'wx', 0o600));
    renameSync(part, file);
  } catch (error) {
    for (const left of [part, `${part}-journal`, `${part}-wal`, `${part}-shm`]) rmSync(left, { force: true });
    throw explained(error, file);
  }
}

export function refuseTaken(file: string): void {
  if (existsSync(file)) throw taken(file);
}

function taken(file: string): OperatorError {
  return new OperatorError(`${file} is there already: name a new file, because nothing is overwritten.`);
}

function explained(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || error instanceof OperatorError) return error;
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EEXIST') return taken(file);
  const full = code === 'ENOSPC' || ('errcode' in error && error.errcode === sqliteFull) || isFull(file);
  const fix = full ? 'There is no room left there: make some or name another place.' : 'Name another place.';
  return new OperatorError(
    `${file} could not be written: ${error.message}. ${fix} Nothing was left behind.`,
    {
      cause: error,
    },
  );
}

const sqliteFull = 13;

/** Whether the disk is full, which SQLite may report as an I/O error, too. */
function isFull(file: string): boolean {
  return freeSpace(path.dirname(file)) === 0;
}
