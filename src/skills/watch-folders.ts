import { statSync, watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Log } from '../lib/log.ts';
import { createGiveWay } from '../lib/async/yield-to-event-loop.ts';

/** Watches a changing set of folders, each by itself; needs no polling. */
export type FolderWatch = Readonly<{
  /** Watches exactly these from now on; an absent one is awaited through its nearest existing parent. True when a watch began, so that what changed just before it may have gone unseen. */
  follow(folders: readonly string[]): Promise<boolean>;
  close(): void;
}>;

/** Calls `onChange` for whatever happens to an entry of a watched folder. A folder that cannot be watched is logged once and left out. */
export function watchFolders(onChange: () => void, log: Log): FolderWatch {
  const watches = new Map<string, Readonly<{ watcher: FSWatcher | undefined; identity: string }>>();
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
    watches.get(key)?.watcher?.close();
    watches.delete(key);
  };

  const start = ({ folder, entry }: Place): FSWatcher | undefined => {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        // A parent such as the home folder is busy: only the awaited entry counts.
        if (entry === undefined || name === entry) onChange();
      });
      watcher.on('error', (error) => complain(folder, error));
      return watcher;
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error)) throw error;
      complain(folder, error);
      return undefined;
    }
  };

  return Object.freeze({
    async follow(folders: readonly string[]) {
      const wanted = new Set(folders);
      const pace = createGiveWay();
      let began = false;
      for (const key of [...watches.keys()]) if (!wanted.has(key)) drop(key);
      for (const key of wanted) {
        await pace();
        if (closed) return false;
        const place = nearestExisting(key);
        if (watches.get(key)?.identity === place.identity) continue;
        drop(key);
        watches.set(key, { watcher: start(place), identity: place.identity });
        began = true;
      }
      return began;
    },
    close() {
      closed = true;
      for (const key of [...watches.keys()]) drop(key);
    },
  });
}

type Place = Readonly<{
  folder: string;
  /** What is awaited in it; absent when it is the wanted folder itself. */
  entry: string | undefined;
  /** Another one for a folder that was made anew. */
  identity: string;
}>;

function nearestExisting(wanted: string, entry?: string): Place {
  const stats = statSync(wanted, { bigint: true, throwIfNoEntry: false });
  const parent = dirname(wanted);
  if (stats === undefined && parent !== wanted) return nearestExisting(parent, basename(wanted));
  const identity = `${wanted}:${stats?.dev}:${stats?.ino}:${stats?.birthtimeNs}`;
  return { folder: wanted, entry, identity };
}
