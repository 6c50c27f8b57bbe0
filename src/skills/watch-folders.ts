import { watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Log } from '../core/log.ts';
import { createPace } from './pace.ts';

/** Watches a changing set of folders, each by itself; needs no polling. */
export type FolderWatch = Readonly<{
  /** Watches exactly these from now on. An absent one is awaited through its nearest existing parent. */
  follow(folders: readonly string[]): Promise<void>;
  close(): void;
}>;

/** Calls `onChange` for whatever happens to an entry of a watched folder. A folder that cannot be watched is logged once and left out. */
export function watchFolders(onChange: () => void, log: Log): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  let closed = false;
  let complained = false;

  const complain = (folder: string, error: unknown): void => {
    if (complained) return;
    complained = true;
    log.warn(
      { folder, err: error },
      'a skill folder cannot be watched: changes there count when a name is not found',
    );
  };

  const drop = (key: string): void => {
    watchers.get(key)?.close();
    watchers.delete(key);
  };

  /** Watches a folder, or, while it is absent, waits for the next part of its path to appear. */
  const start = (folder: string, entry: string | undefined): FSWatcher | undefined => {
    try {
      // A parent such as the home folder is busy: only the awaited entry counts.
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (entry === undefined || name === entry) onChange();
      });
      watcher.on('error', (error) => complain(folder, error));
      return watcher;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      const parent = dirname(folder);
      if (code === 'ENOENT' && parent !== folder) return start(parent, basename(folder));
      if (code === undefined) throw error;
      complain(folder, error);
      return undefined;
    }
  };

  return Object.freeze({
    async follow(folders: readonly string[]) {
      const wanted = new Set(folders);
      const pace = createPace();
      for (const key of [...watchers.keys()]) if (!wanted.has(key)) drop(key);
      for (const folder of wanted) {
        await pace();
        if (closed) return;
        if (watchers.has(folder)) continue;
        const watcher = start(folder, undefined);
        if (watcher !== undefined) watchers.set(folder, watcher);
      }
    },
    close() {
      closed = true;
      for (const key of [...watchers.keys()]) drop(key);
    },
  });
}
