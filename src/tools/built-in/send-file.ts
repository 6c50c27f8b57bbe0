import { createReadStream, ReadStream } from 'node:fs';
import { z } from 'zod';
import type { ToolRows } from '../../core/built-in-tools.ts';
import { fail, succeed } from '../../core/envelope.ts';
import { fixed } from '../../core/texts/say.ts';
import { defineTool, type Artifact, type Tool } from '../../core/tool.ts';
import {
  absent,
  findInScope,
  nameScopes,
  openIn,
  readOfSkill,
  type FileScope,
  type FileScopes,
} from './run-folders.ts';

/** How people see the tool and who is offered it (T2, T5). */
export const sendFileRows = {
  send_file: {
    icon: '📎',
    title: fixed`Sending files`,
    says: fixed`Sends a file here.`,
    doing: fixed`sending a file`,
    risk: 'moderate',
    main: 'default',
    runs: 'default',
    writes: 'here',
  },
} satisfies ToolRows;

/** How many bytes a file of a skill may have. */
const skillFileLimit = 50_000_000;
const input = z.object({
  path: z.union([z.string(), z.array(z.string()).min(1).max(10)]),
  caption: z.string().max(4_000).optional(),
});

/**
 * `send_file {path, caption?}`: sends files into this conversation only (A12). A repeated call does not send twice
 * (Q6). `apart` are folders of restricted skills that the requester may use. They are searched for a file that is in no
 * other folder (S16).
 */
export function sendFileTool(places: FileScopes, apart?: () => readonly FileScope[]): Tool {
  return defineTool({
    name: 'send_file',
    row: sendFileRows.send_file,
    description: `Sends a file from ${nameScopes(places)}, or up to 10 as an album, to the person, in this conversation.`,
    input,
    traits: { sideEffects: true, idempotent: true, requiresNetwork: false, requiresFilesystem: true },
    risk: 'moderate',
    async run({ path, caption }, { artifacts }) {
      const files: Artifact[] = [];
      try {
        for (const [index, name] of [path].flat().entries()) {
          const found = dataIn(places, name, apart?.() ?? []);
          if (!found.ok) return fail(found.code, found.message);
          files.push({ name, data: found.data, caption: index > 0 ? undefined : caption });
        }
        const last = (await artifacts(files)).at(-1);
        if (last?.ok === false) return fail(last.code, last.problem);
        return succeed(
          files.length === 1 ? 'It is on its way to the person.' : 'They are on their way to the person.',
        );
      } finally {
        for (const { data } of files) if (data instanceof ReadStream) data.destroy();
      }
    },
  });
}

type Data = Readonly<
  { ok: true; data: Artifact['data'] } | { ok: false; code: Parameters<typeof fail>[0]; message: string }
>;

function dataIn(places: FileScopes, path: string, apart: readonly FileScope[]): Data {
  const found = dataAt(places, path);
  if (found.ok || found.code !== 'FILE_NOT_FOUND') return found;
  const elsewhere = apart.map((place) => dataAt([place], path)).find(({ ok }) => ok);
  return elsewhere ?? found;
}

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
