import type { StoredFile, StoredFiles } from '../store/stored-files.ts';
import { fetchContents, openDraft, placeEntry, removeEntry, type FileDraft } from './fetch-files.ts';
import { isSameFile, type FolderIndex, type Indexed } from './folder-index.ts';
import { scanFolder } from './scan-folder.ts';
import type { SendChunks } from './send-chunks.ts';

/** How a folder differs from its index. */
export type LocalChanges = Readonly<{
  set: readonly Indexed[];
  removed: readonly string[];
  /** Files with the same content as in the index, but another mark. */
  same: readonly Indexed[];
}>;

export const noChanges: LocalChanges = { set: [], removed: [], same: [] };

/**
 * Compares a folder with its index. Through `sender` it reads files that only their bytes can tell apart. Throws
 * FolderFull.
 */
export async function findChanges(
  root: string,
  { files }: FolderIndex,
  sender: SendChunks,
): Promise<LocalChanges> {
  const local = await scanFolder(root);
  const set: Indexed[] = [];
  const same: Indexed[] = [];
  const removed = [...files.keys()].filter((path) => !local.has(path));
  for (const [path, seen] of local) {
    const known = files.get(path);
    const isKnown = isSameFile(seen, known);
    if (isKnown === true) continue;
    const content = seen.kind === 'file' ? await sender.send(root, path) : { size: 0, chunks: [] };
    if (content === undefined) {
      // The file was removed or replaced by something else meanwhile.
      if (known !== undefined) removed.push(path);
      continue;
    }
    const now = { path, ...seen, ...content };
    if (isKnown === undefined && known !== undefined && sameChunks(known, now)) same.push(now);
    else set.push(now);
  }
  return { set, removed, same };
}

/** What the folder holds, as far as the index and these changes say. */
export function withChanges({ files }: FolderIndex, changes: LocalChanges): Map<string, Indexed> {
  const here = new Map(files);
  for (const path of changes.removed) here.delete(path);
  for (const one of [...changes.same, ...changes.set]) here.set(one.path, one);
  return here;
}

/**
 * Makes a folder like the stored one, except for the paths in `leave`. Follows no links. Returns the index of the
 * result, and `isWhole`, which is false if something was in the way. Throws ChunkGone.
 */
export async function applyStored(
  root: string,
  here: Map<string, Indexed>,
  stored: readonly StoredFile[],
  { leave, files }: Readonly<{ leave: ReadonlySet<string>; files: StoredFiles }>,
): Promise<Readonly<{ files: ReadonlyMap<string, Indexed>; isWhole: boolean }>> {
  const target = new Map(stored.map((file) => [file.path, file]));
  // Removes in reverse order, so that a folder's content goes before the folder.
  for (const path of [...here.keys()].sort().reverse()) {
    if (leave.has(path) || target.get(path)?.kind === here.get(path)?.kind) continue;
    removeEntry(root, path);
    here.delete(path);
  }
  const index = new Map<string, Indexed>();
  const wanted: StoredFile[] = [];
  const blocked = new Set<string>();
  for (const file of stored.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const known = here.get(file.path);
    index.set(file.path, { ...file, mark: '' });
    if (leave.has(file.path)) continue;
    if (known !== undefined && isEqual(known, file)) index.set(file.path, { ...file, mark: known.mark });
    else if (file.kind !== 'file') {
      if (!placeEntry(root, file)) blocked.add(file.path);
    } else wanted.push(file);
  }
  for await (const { file, mark } of writeFiles(root, wanted, files)) {
    if (mark === undefined) blocked.add(file.path);
    else index.set(file.path, { ...file, mark });
  }
  for (const path of blocked) index.delete(path);
  return { files: index, isWhole: blocked.size === 0 };
}

async function* writeFiles(
  root: string,
  wanted: readonly StoredFile[],
  files: StoredFiles,
): AsyncGenerator<Readonly<{ file: StoredFile; mark: string | undefined }>> {
  for (const file of wanted.filter(({ chunks }) => chunks.length === 0))
    yield { file, mark: openDraft(root, file)?.finish() };
  let draft: FileDraft | undefined;
  let isOpen = false;
  try {
    for await (const { file, bytes, isLast } of fetchContents(files, wanted)) {
      if (!isOpen) draft = openDraft(root, file);
      isOpen = !isLast;
      draft?.add(bytes);
      if (isLast) yield { file, mark: draft?.finish() };
    }
  } finally {
    if (isOpen) draft?.drop();
  }
}

function isEqual(one: StoredFile, other: StoredFile): boolean {
  const isAlike =
    one.kind === other.kind && one.executable === other.executable && one.target === other.target;
  return isAlike && sameChunks(one, other);
}

function sameChunks(one: StoredFile, other: StoredFile): boolean {
  return (
    one.chunks.length === other.chunks.length && one.chunks.every((chunk, n) => chunk === other.chunks[n])
  );
}
