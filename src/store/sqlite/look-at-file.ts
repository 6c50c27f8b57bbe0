import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../../core/errors.ts';
import type { StoreLook } from '../look-at-store.ts';
import { lockOwner } from './lock-owner.ts';
import { lostJournal } from './lost-journal.ts';
import { sqliteVersion } from './migrate.ts';
import { sqliteSchema } from './schema.ts';

/** Looks at a store's file. With `mine` it does not matter who owns it. */
export function lookAtFile(file: string, namespace: string, mine: boolean): StoreLook {
  try {
    // Without a lock file nobody has ever opened the store.
    if (!mine && existsSync(`${file}.lock`)) {
      const lock = lockOwner(file);
      const lost = lock.isLeftBehind ? lostJournal(file) : undefined;
      lock.undo();
      // Opening it would make a new index, and the next start could not tell what is lost.
      if (lost !== undefined) return { state: 'damaged', why: lost.why };
    }
  } catch (error) {
    if (error instanceof OperatorError) return { state: 'locked', why: error.message };
    return unusable(file, error);
  }
  try {
    using db = new DatabaseSync(file, { readOnly: true, timeout: 200 });
    const version = sqliteVersion(db, sqliteSchema, file);
    if (version === 0) return { state: 'absent' };
    const damage = damageOf(db);
    if (damage !== undefined) return { state: 'damaged', why: `${file} is damaged: ${damage}` };
    const rows = db.prepare('SELECT key FROM keyed WHERE namespace = ?').all(namespace);
    const keys = rows.map(({ key }) => String(key));
    return { state: version < sqliteSchema.length ? 'older' : 'ready', keys };
  } catch (error) {
    return unusable(file, error);
  }
}

/** What SQLite says about damage in the whole file; undefined if there is none. */
function damageOf(db: DatabaseSync): string | undefined {
  const said = String(db.prepare('PRAGMA quick_check(1)').get()?.['quick_check']);
  return said === 'ok' ? undefined : said;
}

function unusable(file: string, error: unknown): StoreLook {
  if (error instanceof OperatorError) return { state: 'unusable', why: error.message };
  const reason = error instanceof Error ? error.message : String(error);
  return { state: 'unusable', why: `${file} can't be read as the store: ${reason}` };
}
