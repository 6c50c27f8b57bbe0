import { mkdir } from 'node:fs/promises';
import { createMutex } from '../lib/async/mutex.ts';
import { removeFolder } from '../lib/files/write-inside.ts';
import { byteSize } from '../lib/text/text.ts';
import type { StoredFiles } from '../store/stored-files.ts';
import { applyStored, findChanges, noChanges, withChanges, type LocalChanges } from './bring-up.ts';
import { ChunkGone } from './fetch-files.ts';
import { emptyIndex, readIndex, removeIndex, writeIndex, type FolderIndex } from './folder-index.ts';
import { FolderFull, type FolderUse } from './folders.ts';
import { createSendChunks } from './send-chunks.ts';

/** The local copy of a stored folder (Q14). */
export type Copy = Readonly<{
  /**
   * Brings the copy to `version` or a newer one and counts a user. `version` is undefined if the folder is not stored.
   */
  take(version: string | undefined, how: FolderUse): Promise<void>;
  /** Ends what `take` began, and stores what changed in between. */
  give(how: FolderUse): Promise<void>;
  /** Removes the copy. If it is in use, the next `take` discards what is here instead. */
  drop(): Promise<void>;
  isUsed(): boolean;
  /** When it was taken last, in milliseconds since 1970. */
  usedAt(): number;
}>;

/** A version that no stored folder has, so the next `take` compares everything. */
const behind = 'behind';
const mostTries = 3;

export function createCopy(
  name: string,
  at: Readonly<{ root: string; index: string }>,
  { files, quota }: Readonly<{ files: StoredFiles; /** How many bytes it may hold. */ quota: number }>,
): Copy {
  const alone = createMutex();
  const users = { all: 0, changing: 0, usedAt: 0 };
  /** `isClean` is true if the copy is exactly what the index says. */
  const state: { index?: FolderIndex; isClean: boolean } = { isClean: false };

  async function keepIndex(index: FolderIndex): Promise<void> {
    state.index = index;
    await writeIndex(at.index, index);
  }

  async function bringUp(version: string | undefined): Promise<void> {
    const known = (state.index ??= await readIndex(at.index));
    if (state.isClean && known.version === version) return;
    // Other work here uses the folder, so what it changed is left alone.
    const isShared = users.changing > 0;
    const changes = state.isClean ? noChanges : await uncommitted(known);
    const { index } = state;
    const { set, removed, same } = changes;
    if (index.version === version && (isShared || set.length + removed.length === 0)) {
      state.isClean = !isShared;
      if (same.length > 0) await keepIndex({ version, files: withChanges(index, { ...noChanges, same }) });
      return;
    }
    state.isClean = false;
    await fetch(changes, isShared);
  }

  async function fetch(changes: LocalChanges, isShared: boolean): Promise<void> {
    const index = state.index ?? emptyIndex;
    const { set, removed } = changes;
    const leave = new Set(isShared ? [...set.map(({ path }) => path), ...removed] : []);
    const stored = await files.read(name);
    const here = withChanges(index, changes);
    const applied = await applyStored(at.root, here, stored?.files ?? [], { leave, files });
    await keepIndex({ version: applied.isWhole ? stored?.version : behind, files: applied.files });
    state.isClean = applied.isWhole && !isShared;
  }

  /** Tries again if a file was replaced meanwhile, or if something is here that no index knows. */
  async function bringUpPatiently(version: string | undefined): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await bringUp(version);
        if (state.index?.version !== behind || users.changing > 0) return;
        if (tries === mostTries) throw new Error(`${name} could not be brought up to date`);
      } catch (error) {
        if (!(error instanceof ChunkGone) || tries === mostTries) throw error;
      }
    }
  }

  /** Changes that nobody stored, because their queue was lost or their process died. */
  async function uncommitted(index: FolderIndex): Promise<LocalChanges> {
    try {
      return await findChanges(at.root, index, createSendChunks(sendsNothing));
    } catch (error) {
      if (!(error instanceof FolderFull) || users.changing > 0) throw error;
      await removeFolder(at.root);
      await mkdir(at.root, { mode: 0o700 });
      state.index = { ...emptyIndex, version: behind };
      return noChanges;
    }
  }

  async function commit(): Promise<void> {
    const index = state.index ?? emptyIndex;
    const sender = createSendChunks(files);
    const changes = await findChanges(at.root, index, sender);
    await sender.flush();
    const now = withChanges(index, changes);
    const { set, removed, same } = changes;
    if (set.length + removed.length > 0) {
      refuseIfLarger(sizeOf(now), sizeOf(index.files), quota);
      const { before, after } = await files.write({ folder: name, set, removed });
      await keepIndex({ version: before === index.version ? after : behind, files: now });
    } else if (same.length > 0) await keepIndex({ ...index, files: now });
    state.isClean = users.changing === 0;
  }

  return {
    take: (version, how) =>
      alone(async () => {
        await mkdir(at.root, { recursive: true, mode: 0o700 });
        await bringUpPatiently(version);
        users.all += 1;
        users.usedAt = Date.now();
        if (how === 'reads') return;
        users.changing += 1;
        state.isClean = false;
      }),
    give: (how) =>
      alone(async () => {
        users.all -= 1;
        if (how === 'reads') return;
        users.changing -= 1;
        await commit();
      }),
    drop: () =>
      alone(async () => {
        state.isClean = false;
        if (users.all > 0) {
          state.index = { ...(state.index ?? emptyIndex), version: behind };
          return;
        }
        await removeIndex(at.index);
        await removeFolder(at.root);
        delete state.index;
      }),
    isUsed: () => users.all > 0,
    usedAt: () => users.usedAt,
  };
}

const sendsNothing = { missing: async () => [], put: async () => undefined };

function sizeOf(files: FolderIndex['files']): number {
  return [...files.values()].reduce((sum, { size }) => sum + size, 0);
}

/** Counts the size of the content, because files with holes take less space on disk. */
function refuseIfLarger(now: number, before: number, quota: number): void {
  if (now <= quota || now <= before) return;
  throw new FolderFull(
    `the folder would hold ${byteSize(now)}, and ${byteSize(quota)} are allowed ([sandbox] disk_mb). What was written last is not kept: write less, or remove files first`,
  );
}
