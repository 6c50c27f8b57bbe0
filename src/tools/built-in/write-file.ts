import { closeSync, fstatSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { z } from 'zod';
import { fail, succeed } from '../../core/envelope.ts';
import { defineTool, type Tool } from '../../core/tool.ts';
import { folderSize } from '../../files/folder-size.ts';
import { absent, findPlace, type Places } from '../../files/places.ts';
import { openInside } from '../../files/open-inside.ts';
import { writeInside } from '../../files/write-inside.ts';

/** Bytes of one file. */
const fileLimit = 1_000_000;

/**
 * `write_file {path, content}`: writes a text file whole, folders on the way being made (T13). `quota` is how many bytes the
 * folder it goes to may hold in all.
 */
export function writeFileTool(places: Places, quota: number): Tool {
  const where = places.flatMap((place) => (place.kind === 'skill' ? [] : [place.seen[0]])).join(', ');
  return defineTool({
    name: 'write_file',
    description: `Writes a text file in ${where}; what was there is replaced.`,
    input: z.object({ path: z.string(), content: z.string() }),
    traits: { sideEffects: true, idempotent: true, requiresNetwork: false, requiresFilesystem: true },
    risk: 'moderate',
    async run({ path, content }) {
      const found = findPlace(places, path);
      if (!found.ok) return fail(found.code, found.message);
      const { place, names } = found;
      if (place.kind === 'skill')
        return fail('INVALID_PATH', `${place.seen[0]} is read-only: write to ${where}`);
      if (names.length === 0 || path.endsWith('/'))
        return fail('INVALID_PATH', 'the path must name a file, not a folder');
      const bytes = Buffer.from(content);
      if (bytes.length > fileLimit)
        return fail('FILE_TOO_LARGE', `${bytes.length} bytes; at most ${fileLimit} can be written`);
      await mkdir(place.host, { recursive: true, mode: 0o700 });
      if (bytes.length > (await roomFor(place.host, names, quota)))
        return fail(
          'FILE_TOO_LARGE',
          `${place.seen[0]} is full: it may hold ${quota / 1024 ** 2} MB ([sandbox] disk_mb). Write less, put shorter files in the place of long ones, or remove some with bash`,
        );
      if (writeInside({ root: place.host, names }, bytes))
        return succeed(`${bytes.length} bytes were written.`);
      const { code, message } = absent(places, path);
      return fail(code, message);
    },
  });
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
