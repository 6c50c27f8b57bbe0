import { rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ifAbsent } from '../lib/has-code.ts';
import type { StoredFile, StoredFiles } from '../store/stored-files.ts';
import { fetchContents } from './fetch-files.ts';
import type { Shelf } from './folders.ts';
import { draftIn, namesIn } from './plain-folders.ts';
import { createSendChunks } from './send-chunks.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** A shelf of local copies. It asks the store about a file each time, so that nothing removed comes back (Q12, Q14). */
export function createCopiedShelf(
  files: StoredFiles,
  at: (folder: string) => string,
  removed: (folder: string, name: string) => Promise<void>,
): Shelf {
  const inFolder = (folder: string, name: string): string => path.join(at(folder), name);

  return {
    draft: (folder) => draftIn(at(folder)),
    async keep(folder, name, draft) {
      const sender = createSendChunks(files);
      const content = await sender.send(path.dirname(draft), path.basename(draft));
      if (content === undefined) throw new Error(`${name} was removed before it was stored`);
      await sender.flush();
      const changedAt = Date.now();
      const file = {
        path: name,
        kind: 'file',
        executable: false,
        changedAt,
        target: '',
        ...content,
      } as const;
      await files.write({ folder, set: [file], removed: [] });
      await settle(draft, changedAt);
      await rename(draft, inFolder(folder, name));
    },
    async find(folder, name, use = false) {
      const local = inFolder(folder, name);
      const [file] = (await files.read(folder, [name]))?.files ?? [];
      if (file === undefined) {
        await rm(local, { force: true });
        return undefined;
      }
      if (!(await isCopyOf(local, file))) await fetchInto(at(folder), file, files);
      if (use) await files.touch(folder, name);
      return local;
    },
    names: async (folder) => ((await files.read(folder))?.files ?? []).map(({ path: name }) => name),
    async remove(folder, names) {
      if (names.length === 0) return;
      await files.removeFiles(folder, names);
      for (const name of names) {
        await rm(inFolder(folder, name), { force: true });
        await removed(folder, name);
      }
    },
    uses: files.uses,
    async sweep(group) {
      const stored = new Set((await files.uses(group)).map(({ folder, path: name }) => `${folder}/${name}`));
      await sweepIn(at(group), group, stored);
    },
  };
}

/** Fetches a file into a folder: first as a draft, so that nobody finds half of it. */
async function fetchInto(directory: string, file: StoredFile, files: StoredFiles): Promise<void> {
  const draft = await draftIn(directory);
  try {
    await writeFile(draft, '', { flag: 'wx', mode: 0o600 });
    for await (const { bytes } of fetchContents(files, [file])) await writeFile(draft, bytes, { flag: 'a' });
    await settle(draft, file.changedAt);
    await rename(draft, path.join(directory, file.path));
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes old copies and drafts. A copy is fetched again if it is needed. */
async function sweepIn(directory: string, group: string, stored: ReadonlySet<string>): Promise<void> {
  for (const name of await namesIn(directory)) {
    const entry = path.join(directory, name);
    const full = `${group}/${name}`;
    const stats = await stat(entry).catch(ifAbsent);
    // A draft was renamed meanwhile, and a new draft may have its old name.
    if (stats === undefined) continue;
    if (stats.isDirectory()) await sweepIn(entry, full, stored);
    else if (Date.now() - stats.ctimeMs > (stored.has(full) ? dayMs : hourMs))
      await rm(entry, { force: true });
  }
}

async function settle(draft: string, changedAt: number): Promise<void> {
  await utimes(draft, changedAt / 1_000, changedAt / 1_000);
}

async function isCopyOf(local: string, { size, changedAt }: StoredFile): Promise<boolean> {
  const stats = await stat(local).catch(ifAbsent);
  // Times in seconds are floating point numbers, so they lose a little.
  return stats?.size === size && Math.abs(stats.mtimeMs - changedAt) < 1;
}
