import { createReadStream, ReadStream } from 'node:fs';
import { z } from 'zod';
import { fail, succeed } from '../../core/envelope.ts';
import { defineTool, type Artifact, type Tool } from '../../core/tool.ts';
import { absent, findInScope, openIn, readOfSkill, type FileScopes } from './file-scopes.ts';

const input = z.object({
  path: z.union([z.string(), z.array(z.string()).min(1).max(10)]),
  caption: z.string().max(4_000).optional(),
});

/** Bytes of a skill's own file. */
const skillFileLimit = 50_000_000;

/**
 * `send_file {path, caption?}`: delivers a file, or several as one album, from the places that are seen here to this conversation; there is no way to
 * name another (A12). Made again it is the same file on its way (Q6).
 */
export function sendFileTool(places: FileScopes): Tool {
  const where = places.map(({ seen: [name] }) => name).join(', ');
  return defineTool({
    name: 'send_file',
    description: `Sends a file from ${where}, or up to 10 as an album, to the person, in this conversation.`,
    input,
    traits: { sideEffects: true, idempotent: true, requiresNetwork: false, requiresFilesystem: true },
    risk: 'moderate',
    async run({ path, caption }, { artifacts }) {
      const files: Artifact[] = [];
      try {
        for (const [index, name] of [path].flat().entries()) {
          const found = dataAt(places, name);
          if (!found.ok) return fail(found.code, found.message);
          const { data } = found;
          files.push({ name, data, caption: index > 0 ? undefined : caption });
        }
        const last = (await artifacts(files)).at(-1);
        if (last?.ok === false) return fail(last.code, last.problem);
        return succeed(
          files.length === 1 ? 'It is on its way to the person.' : 'They are on their way to the person.',
        );
      } finally {
        // What is on its way already is not read again.
        for (const { data } of files) if (data instanceof ReadStream) data.destroy();
      }
    },
  });
}

type Data = Readonly<
  { ok: true; data: Artifact['data'] } | { ok: false; code: Parameters<typeof fail>[0]; message: string }
>;

function dataAt(places: FileScopes, path: string): Data {
  const found = findInScope(places, path);
  if (!found.ok) return found;
  const { place, names } = found;
  if (place.kind === 'skill') {
    const file = readOfSkill(place, names, skillFileLimit);
    return file.ok ? { ok: true, data: file.bytes } : file;
  }
  const descriptor = openIn(place, names);
  if (descriptor === undefined) return absent(places, path);
  return { ok: true, data: createReadStream('', { fd: descriptor }) };
}
