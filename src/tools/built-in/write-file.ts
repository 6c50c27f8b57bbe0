import { closeSync, fstatSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { z } from 'zod';
import { fail, succeed } from '../../core/envelope.ts';
import { defineTool, type Tool } from '../../core/tool.ts';
import { folderSize } from '../../lib/files/list-inside.ts';
import { openInside } from '../../lib/files/open-inside.ts';
import { writeInside } from '../../lib/files/write-inside.ts';
import { absent, findInScope, type FileScopes } from './file-scopes.ts';

const input = z.object({ path: z.string(), content: z.string() });

/** Bytes of one file. */
const fileLimit = 1_000_000;

/**
 * `write_file {path, content}`: writes a text file whole, folders on the way being made (T13). `quota` is how many bytes the
 * folder it goes to may hold in all.
 */
export function writeFileTool(places: FileScopes, quota: number): Tool {
  const where = places.flatMap((place) => (place.kind === 'skill' ? [] : [place.seen[0]])).join(', ');
  return defineTool({
    name: 'write_file',
    description: `Writes a text file in ${where}; what was there is replaced.`,
    input,
    traits: { sideEffects: true, idempotent: true, requiresNetwork: false, requiresFilesystem: true },
    risk: 'moderate',
    async run({ path, content }) {
      const bytes = Buffer.from(content);
      const problem = await writeIn(places, path, bytes, { largest: fileLimit, quota });
      if (problem !== undefined) return fail(problem.code, problem.message);
      return succeed(`${bytes.length} bytes were written.`);
    },
  });
}

/** Why a file was not written, for a model to act on. */
type Unwritten = Readonly<{
  code: 'INVALID_PATH' | 'FILE_NOT_FOUND' | 'FILE_TOO_LARGE';
  message: string;
}>;

/**
 * Writes a file whole at a path that a model wrote, folders on the way being made (T13). `largest` is how many bytes it may
 * have, `quota` how many the folder it goes to may hold in all.
 */
export async function writeIn(
  places: FileScopes,
  path: string,
  bytes: Uint8Array,
  { largest, quota }: Readonly<{ largest: number; quota: number }>,
): Promise<Unwritten | undefined> {
  const found = findInScope(places, path);
  if (!found.ok) return found;
  const { place, names } = found;
  if (place.kind === 'skill') {
    const where = places.flatMap((one) => (one.kind === 'skill' ? [] : [one.seen[0]])).join(', ');
    return { code: 'INVALID_PATH', message: `${place.seen[0]} is read-only: write to ${where}` };
  }
  if (names.length === 0 || path.endsWith('/'))
    return { code: 'INVALID_PATH', message: 'the path must name a file, not a folder' };
  if (bytes.length > largest)
    return { code: 'FILE_TOO_LARGE', message: `${bytes.length} bytes; at most ${largest} can be written` };
  await mkdir(place.host, { recursive: true, mode: 0o700 });
  if (bytes.length > (await roomFor(place.host, names, quota)))
    return {
      code: 'FILE_TOO_LARGE',
      message: `${place.seen[0]} is full: it may hold ${quota / 1024 ** 2} MB ([sandbox] disk_mb). Write less, put shorter files in the place of long ones, or remove some with bash`,
    };
  return writeInside({ root: place.host, names }, bytes) ? undefined : absent(places, path);
}

/** Bytes that a file may have: what the folder may still hold, and what is there under the name already. */
async function roomFor(folder: string, names: readonly string[], quota: number): Promise<number> {
  const held = (await folderSize(folder, 2 * quota)) ?? Infinity;
  const descriptor = openInside({ root: folder, names }, { alone: true });
  if (descriptor === undefined) return quota - held;
  try {
    const { size, blocks } = fstatSync(descriptor);
    return Math.max(size, quota - held + blocks * 512);
  } finally {
    closeSync(descriptor);
  }
}
