import type { StoredFiles } from '../store/stored-files.ts';
import { applyStored, findChanges } from './bring-up.ts';
import { emptyIndex } from './folder-index.ts';
import { createSendChunks } from './send-chunks.ts';

/** Stores a whole folder. Files that the store already has there stay as they are. Throws FolderFull. */
export async function storeFolder(
  directory: string,
  folder: string,
  files: StoredFiles,
  wanted: (path: string) => boolean = () => true,
): Promise<void> {
  const sender = createSendChunks(files);
  const { set } = await findChanges(directory, emptyIndex, sender);
  await sender.flush();
  await files.write({ folder, set: set.filter((file) => wanted(file.path)), removed: [], onlyNew: true });
}

/** Writes a stored folder into an empty one. `isWhole` is false if something was in the way. */
export async function fetchFolder(
  directory: string,
  folder: string,
  files: StoredFiles,
): Promise<Readonly<{ files: number; isWhole: boolean }>> {
  const stored = (await files.read(folder))?.files ?? [];
  const { isWhole } = await applyStored(directory, new Map(), stored, { leave: new Set(), files });
  return { files: stored.length, isWhole };
}
