import type { StoredFiles } from '../store/stored-files.ts';
import { applyStored, findChanges } from './bring-up.ts';
import { emptyIndex } from './folder-index.ts';
import { createSendChunks } from './send-chunks.ts';

/** Stores a whole folder; what is known of it stays. Throws FolderFull. */
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

/** Into an empty folder. */
export async function fetchFolder(directory: string, folder: string, files: StoredFiles): Promise<void> {
  const stored = await files.read(folder);
  await applyStored(directory, new Map(), stored?.files ?? [], { leave: new Set(), files });
}
