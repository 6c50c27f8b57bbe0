import { chmodSync, readFileSync, rmSync, writeFileSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../../core/errors.ts';

/** SQLite's code for "somebody else holds the lock". */
const busy = 5;

/**
 * Makes this process the one owner of a store file, until `release` (Q9). The lock is the operating system's, on a file of
 * its own beside the store: it ends with the process, however that ends, so there is no stale lock to judge. The process id
 * beside it is only for the message. Throws OperatorError, naming that id, while another owner lives. What is owned may be
 * something else than `file`: `what`, and `instead` is what a second owner is advised to take.
 */
export function lockOwner(
  file: string,
  { what, instead } = { what: file, instead: 'a file of its own in [store] url' },
): Readonly<{ release(): void }> {
  const pidFile = `${file}.pid`;
  // SQLite gives its journal the mode of the file.
  createOnce(`${file}.lock`);
  chmodSync(`${file}.lock`, 0o600);
  // Nothing else may open the lock file: a process that closes it a second time loses its locks (POSIX).
  const lock = new DatabaseSync(`${file}.lock`);
  try {
    lock.exec('BEGIN EXCLUSIVE');
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    lock.close();
    if (!(error instanceof Error && 'errcode' in error && error.errcode === busy)) throw error;
    throw new OperatorError(
      `${what} is in use by ${ownerName(pidFile)}. Stop that one first, or give this one ${instead}.`,
      { cause: error },
    );
  }
  return {
    release() {
      try {
        rmSync(pidFile, { force: true });
      } catch {
        // On a disk that only reads it stays. It is a hint for a message: the lock alone counts.
      }
      lock.close();
    },
  };
}

function ownerName(pidFile: string): string {
  const pid = readOrEmpty(pidFile).trim();
  return /^\d+$/.test(pid) ? `process ${pid}` : 'another process';
}

/** Empty where the owner has its lock and has not written its id yet. */
function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

/** Creates an empty file for this user alone (0600) where there is none; one that is there is not opened, and stays as it is. */
export function createOnce(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
