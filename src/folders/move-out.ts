import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { OperatorError } from '../core/errors.ts';
import type { StoredFiles } from '../store/stored-files.ts';
import { adoptedGroups, adoptedSingle } from './adopt-folders.ts';
import { fetchFolder } from './carry-folder.ts';
import { namesIn } from './plain-folders.ts';

const places = [...adoptedGroups, adoptedSingle];

/** Throws OperatorError if the workspace holds files of conversations, as after an interrupted move. */
export async function refuseFilledFolders(workspace: string): Promise<void> {
  const filled: string[] = [];
  for (const place of places)
    if ((await namesIn(path.join(workspace, place))).length > 0) filled.push(path.join(workspace, place));
  if (filled.length === 0) return;
  throw new OperatorError(
    `${filled.join(', ')}: not empty, and files of the database go there. If an interrupted move left them, remove them and ` +
      'run this again; all of them are in the database. Otherwise name another [bot] workspace.',
  );
}

/**
 * Writes all folders of a shared store into the workspace of a bot that gets its own store (Q14). Returns how many
 * files.
 */
export async function moveFoldersOut(
  workspace: string,
  files: StoredFiles,
  signal: AbortSignal,
): Promise<number> {
  let moved = 0;
  const folders = [
    ...(await Promise.all(adoptedGroups.map((group) => files.list(group)))).flat(),
    adoptedSingle,
  ];
  for (const folder of folders) {
    signal.throwIfAborted();
    const directory = path.join(workspace, folder);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const fetched = await fetchFolder(directory, folder, files);
    if (!fetched.isWhole)
      throw new OperatorError(`${directory} could not be written: something is in the way.`);
    moved += fetched.files;
  }
  return moved;
}
