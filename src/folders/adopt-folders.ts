import path from 'node:path';
import { OperatorError } from '../core/errors.ts';
import { removeFolder } from '../lib/files/write-inside.ts';
import type { Log } from '../lib/log.ts';
import type { StoredFiles } from '../store/stored-files.ts';
import { storeFolder } from './carry-folder.ts';
import { FolderFull } from './folders.ts';
import { namesIn } from './plain-folders.ts';

/** Groups of folders that a bot with a store of its own keeps in the workspace, and the one group that is a folder. */
export const adoptedGroups = ['chats', 'runs', 'received'];
export const adoptedSingle = 'outgoing';

/**
 * Moves what is in the workspace, as after a move from SQLite, into the store (Q14). Files that the store has stay as they are,
 * so a repeat, and several processes at once, do no harm. Throws OperatorError if something can't be removed, because
 * forgotten files would come back from there.
 */
export async function adoptFolders(
  workspace: string,
  { files, log }: Readonly<{ files: StoredFiles; log: Log }>,
): Promise<void> {
  const folders = (await Promise.all(adoptedGroups.map((group) => foldersIn(workspace, group)))).flat();
  if ((await namesIn(path.join(workspace, adoptedSingle))).length > 0) folders.push(adoptedSingle);
  for (const folder of folders) {
    try {
      await adopt(path.join(workspace, folder), folder, files);
    } catch (error) {
      if (!(error instanceof FolderFull)) throw error;
      log.error(
        { err: error, folder },
        'a folder of the workspace is too large for the store and stays where it is',
      );
    }
  }
  if (folders.length > 0)
    log.info({ folders: folders.length }, 'the files of the workspace moved into the store');
}

async function foldersIn(workspace: string, group: string): Promise<readonly string[]> {
  return (await namesIn(path.join(workspace, group))).map((name) => `${group}/${name}`);
}

async function adopt(directory: string, folder: string, files: StoredFiles): Promise<void> {
  // On the shelf, these are files that were being written when their process ended.
  const isShelf = folder === adoptedSingle || folder.startsWith('received/');
  await storeFolder(directory, folder, files, (name) => !isShelf || !name.endsWith('.part'));
  await removeFolder(directory).catch((error: unknown) => {
    throw new OperatorError(
      `${directory} is in the database by now and can't be removed. Remove it yourself, then start again.`,
      { cause: error },
    );
  });
}
