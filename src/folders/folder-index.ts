import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { ifAbsent } from '../lib/has-code.ts';
import { parseJson } from '../lib/json/json-values.ts';
import { bootId } from '../lib/processes/boot-id.ts';
import type { StoredFile } from '../store/stored-files.ts';
import type { Seen } from './scan-folder.ts';

/** A stored file with the `mark` that its local copy has, as in `Seen`. */
export type Indexed = StoredFile & Readonly<{ mark: string }>;

/** What was written here of a stored folder. It has the folder's version only if that was all of it. */
export type FolderIndex = Readonly<{ version: string | undefined; files: ReadonlyMap<string, Indexed> }>;

export const emptyIndex: FolderIndex = { version: undefined, files: new Map() };

const shape = z.object({
  /** Marks count only within one boot: after a power cut a file may be shorter than its times say. */
  boot: z.string(),
  version: z.string().optional(),
  files: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(['file', 'folder', 'link']),
      executable: z.boolean(),
      size: z.number(),
      changedAt: z.number(),
      target: z.string(),
      chunks: z.array(z.string()),
      mark: z.string(),
    }),
  ),
});

/** Reads an index. A missing or damaged one counts as empty. */
export async function readIndex(file: string): Promise<FolderIndex> {
  const text = await readFile(file, 'utf8').catch(ifAbsent);
  const read = text === undefined ? undefined : shape.safeParse(parseJson(text)).data;
  if (read === undefined) return emptyIndex;
  const boot = bootId();
  const trusted = boot !== '' && read.boot === boot;
  const files = read.files.map((one) => (trusted ? one : { ...one, mark: '' }));
  return { version: read.version, files: new Map(files.map((one) => [one.path, one])) };
}

export async function writeIndex(file: string, { version, files }: FolderIndex): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const text = JSON.stringify({ boot: bootId(), version, files: [...files.values()] });
  await writeFile(`${file}.part`, text, { mode: 0o600 });
  await rename(`${file}.part`, file);
}

export async function removeIndex(file: string): Promise<void> {
  await rm(file, { force: true });
}

/** Whether a file is certainly as it was stored; undefined if only its bytes can tell. */
export function isSameFile(seen: Seen, known: Indexed | undefined): boolean | undefined {
  if (known === undefined || known.kind !== seen.kind || known.executable !== seen.executable) return false;
  if (seen.kind !== 'file') return known.target === seen.target;
  if (known.size !== seen.size) return false;
  return seen.mark !== '' && seen.mark === known.mark ? true : undefined;
}
