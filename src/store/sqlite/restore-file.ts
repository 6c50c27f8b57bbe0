import { chmodSync, copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { OperatorError } from '../../core/errors.ts';
import { makeFolders } from '../make-folders.ts';
import { lockOwner } from './lock-owner.ts';
import { sqliteVersion } from './migrate.ts';
import { sqliteSchema } from './schema.ts';

/**
 * Puts a whole backup in a store's place in one step, and keeps what was there under another name. For a damaged or
 * foreign file, and while somebody owns the store, it throws OperatorError and changes nothing.
 */
export function restoreFile(from: string, to: string): Readonly<{ kept: string | undefined }> {
  checkBackup(from);
  makeFolders(path.dirname(to), 0o700);
  const lock = lockOwner(to);
  const aside = `${to}.restoring`;
  try {
    rmSync(aside, { force: true });
    copyFileSync(from, aside);
    chmodSync(aside, 0o600);
    const there = ['', ...journalEndings].filter((end) => existsSync(to + end));
    const kept =
      there.length > 0 ? `${to}.before-${new Date().toISOString().replaceAll(':', '')}` : undefined;
    // The journal belongs to the old file, so the two are renamed together.
    if (kept !== undefined) for (const end of there.toReversed()) renameSync(to + end, kept + end);
    renameSync(aside, to);
    return { kept };
  } finally {
    rmSync(aside, { force: true });
    lock.release();
  }
}

/** Endings of files that SQLite keeps beside a store, and would apply to another one in its place. */
export const journalEndings = ['-wal', '-shm', '-journal'] as const;

/** Throws OperatorError for a damaged or foreign file, or one of a newer schema. */
export function checkBackup(file: string): void {
  if (!existsSync(file)) throw new OperatorError(`There is no ${file}.`);
  try {
    // Without `immutable` SQLite makes journals beside the file, which a reader can't remove.
    const address = pathToFileURL(file);
    address.searchParams.set('immutable', '1');
    using db = new DatabaseSync(address, { readOnly: true });
    if (sqliteVersion(db, sqliteSchema, file) === 0)
      throw new OperatorError(`${file} is no backup of a store.`);
    const [first] = db.prepare('PRAGMA integrity_check').all();
    const said = String(first?.['integrity_check']);
    if (said !== 'ok') throw new OperatorError(`${file} is damaged: ${said}.`);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`${file} can't be restored: ${reason}.`, { cause: error });
  }
}
