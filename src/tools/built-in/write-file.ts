import { z } from 'zod';
import { fail, succeed } from '../../core/envelope.ts';
import { defineTool, type Tool } from '../../core/tool.ts';
import type { Places } from './file-scopes.ts';
import { writeIn } from './write-in.ts';

const input = z.object({ path: z.string(), content: z.string() });

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
