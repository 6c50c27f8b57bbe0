import { chmodSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { OperatorError } from '../../core/errors.ts';
import type { Log } from '../../lib/log.ts';
import { makeFolders } from '../make-folders.ts';
import { helpDamaged, StoreGone } from '../store-fault.ts';
import type { Store } from '../store.ts';
import { createEmbeddedStore } from './create-embedded-store.ts';
import { createOnce, lockOwner } from './lock-owner.ts';
import { lostJournal } from './lost-journal.ts';
import { migrateSqlite } from './migrate.ts';
import { sqliteSchema } from './schema.ts';
import { openConnection, type SqliteConnection } from './open-connection.ts';

type Opening = Readonly<{
  clock: Clock;
  log: Log;
  /**
   * Called if the process that had the store before was killed. `lost` says what is missing since; undefined if nothing
   * is.
   */
  onKilled?: (lost: string | undefined) => void;
}>;

/**
 * Creates (file 0600, folders 0700: S4), migrates and owns one SQLite file until it is closed. `:memory:` is private
 * and ends with the process. Throws OperatorError.
 */
export function openEmbeddedStore(location: string, { clock, log, onKilled }: Opening): Store {
  try {
    return location === ':memory:'
      ? build(location, { release: () => undefined, clock, log })
      : own(location, { clock, log, onKilled });
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(
      `${location} can't be used as the store: ${reason}. Fix that file or write another path into [store] url.`,
      { cause: error },
    );
  }
}

function own(location: string, { clock, log, onKilled }: Opening): Store {
  makeFolders(path.dirname(location), 0o700);
  createOnce(location);
  // All names of a file share one lock.
  const file = realpathSync(location);
  // Checked before anything is changed, because a folder would lose its mode.
  if (!statSync(file).isFile()) throw new Error('it is no file');
  const lock = lockOwner(file);
  try {
    const lost = lock.isLeftBehind ? lostJournal(file) : undefined;
    if (lost?.isUsable === false)
      throw new OperatorError(`the store can't be opened: ${lost.why}. ${helpDamaged()}`);
    // SQLite gives its journals the same mode.
    chmodSync(file, 0o600);
    const store = build(file, { release: lock.release, findFile: finderOf(file), clock, log });
    if (lock.isLeftBehind && onKilled !== undefined) onKilled(lost?.why);
    else if (lost !== undefined) log.error({ file }, `the store is damaged: ${lost.why}`);
    return store;
  } catch (error) {
    lock.undo();
    throw error;
  }
}

/**
 * Returns a check that throws if the file was removed or replaced. SQLite would continue to write into a removed file
 * and lose all of it at the end.
 */
function finderOf(file: string): () => void {
  const { dev, ino } = statSync(file);
  return () => {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found?.dev !== dev || found.ino !== ino) throw new StoreGone(file);
  };
}

function build(file: string, more: Parameters<typeof createEmbeddedStore>[1]): Store {
  const connection = openConnection(file);
  try {
    findSearch(connection);
    migrateSqlite(connection, sqliteSchema, file);
    return createEmbeddedStore(connection, more);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Throws OperatorError if SQLite has no full text search, as in a Node.js built on the system's own SQLite (K5). */
function findSearch(connection: SqliteConnection): void {
  const found = connection.prepare(`SELECT 1 FROM pragma_module_list WHERE name = 'fts5'`).get();
  if (found === undefined)
    throw new OperatorError(
      'The SQLite of this Node.js has no full text search (FTS5). Use a Node.js from nodejs.org, or a PostgreSQL database in [store] url.',
    );
}
