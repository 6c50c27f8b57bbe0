import { accessSync, chmodSync, constants, existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { OperatorError } from '../core/errors.ts';
import { changeableByOthers } from '../lib/files/changeable-by-others.js';
import { makeFolders, tryFolders } from '../store/make-folders.ts';
import { lockOwner } from '../store/sqlite/lock-owner.ts';

/**
 * Makes the data directory with mode 0700 (S4) and locks it for this process (Q9). Throws OperatorError if that fails.
 * `problem` says what is wrong with it at that moment; undefined if nothing is.
 */
export function ownDataDir(dataDir: string): Readonly<{ problem(): string | undefined; release(): void }> {
  try {
    makeFolders(dataDir, 0o700);
    refuseIfChangeable(dataDir);
    const { uid, mode } = statSync(dataDir);
    if (uid === process.getuid?.() && (mode & 0o077) !== 0) chmodSync(dataDir, 0o700);
    const lock = lockOwner(path.join(dataDir, 'bot'), {
      what: dataDir,
      instead: 'a directory of its own in [bot] data_dir',
    });
    const { dev, ino } = statSync(dataDir);
    return { ...lock, problem: () => problemOf(dataDir, { dev, ino }) };
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw unusable(dataDir, error);
  }
}

/** Throws in the same cases as `ownDataDir`, but changes nothing. */
export function tryDataDir(dataDir: string): void {
  try {
    tryFolders(dataDir);
    if (!existsSync(dataDir)) return;
    refuseIfChangeable(dataDir);
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw unusable(dataDir, error);
  }
}

function refuseIfChangeable(dataDir: string): void {
  const problem = changeableByOthers(dataDir);
  if (problem !== undefined)
    throw new OperatorError(`${dataDir} can't be used as the data directory: ${problem}.`);
}

function unusable(dataDir: string, cause: unknown): OperatorError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new OperatorError(
    `${dataDir} can't be used as the data directory: ${reason}. Fix that or write another path into [bot] data_dir.`,
    { cause },
  );
}

function problemOf(dataDir: string, was: Readonly<{ dev: number; ino: number }>): string | undefined {
  try {
    const { dev, ino } = statSync(dataDir);
    if (dev !== was.dev || ino !== was.ino) return gone(dataDir);
    accessSync(dataDir, constants.W_OK | constants.X_OK);
    return changeableByOthers(dataDir);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    if (code === undefined) throw error;
    return code === 'ENOENT' ? gone(dataDir) : `${dataDir} can't be written: ${code}`;
  }
}

function gone(dataDir: string): string {
  return `${dataDir} is gone or was replaced: restart the bot`;
}
