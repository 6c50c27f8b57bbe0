import { chmodSync, readFileSync, rmSync, writeFileSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../../core/errors.ts';
import { hasCode } from '../../lib/has-code.ts';
import { bootId } from '../../lib/processes/boot-id.ts';

/** The code by which SQLite says that somebody else holds the lock. */
const busy = 5;

type Lock = Readonly<{
  /** True if the owner before was killed and the machine has not restarted since. */
  isLeftBehind: boolean;
  release(): void;
  /** Like `release`, but keeps what the owner before left, for a caller that changed nothing. */
  undo(): void;
}>;

/**
 * Makes this process the only owner of a store file until `release` (Q9). The operating system's lock ends with the
 * process, so it is never stale. The process id is only for the OperatorError while another owner lives. `what` and
 * `instead` are words for that error if `file` is not a store.
 */
export function lockOwner(
  file: string,
  { what, instead } = { what: file, instead: 'a file of its own in [store] url' },
): Lock {
  const pidFile = `${file}.pid`;
  // SQLite gives its journal the same mode.
  createOnce(`${file}.lock`);
  chmodSync(`${file}.lock`, 0o600);
  // The lock file must not be opened elsewhere: closing it would lose the POSIX locks.
  const lock = new DatabaseSync(`${file}.lock`);
  const boot = bootId();
  try {
    lock.exec('BEGIN EXCLUSIVE');
    const found = readOrEmpty(pidFile);
    writeFileSync(pidFile, `${process.pid}\n${boot}\n`, { mode: 0o600 });
    const close = (left: string): void => {
      try {
        if (left === '') rmSync(pidFile, { force: true });
        else writeFileSync(pidFile, left);
      } catch {
        // On a read-only disk the id stays, but only the lock counts.
      }
      lock.close();
    };
    return {
      isLeftBehind: boot !== '' && found.includes(boot),
      release: () => close(''),
      undo: () => close(found),
    };
  } catch (error) {
    lock.close();
    if (!(error instanceof Error && 'errcode' in error && error.errcode === busy)) throw error;
    throw new OperatorError(
      `${what} is in use by ${ownerName(pidFile)}. Stop that one first, or give this one ${instead}.`,
      { cause: error },
    );
  }
}

function ownerName(pidFile: string): string {
  const [pid = ''] = readOrEmpty(pidFile).split('\n');
  return /^\d+$/.test(pid) ? `process ${pid}` : 'another process';
}

/** The text of a file; empty if it is missing, as while a new owner has not written its id. */
function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  }
}

/** Creates an empty file (0600) if it is missing. An existing one is never opened. */
export function createOnce(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}
