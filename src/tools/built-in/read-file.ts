import { closeSync } from 'node:fs';
import { z } from 'zod';
import { fail, type Envelope } from '../../core/envelope.ts';
import { defineTool, readOnly, type Tool } from '../../core/tool.ts';
import { absent, findInScope, openIn, readOfSkill, type FileScopes } from './file-scopes.ts';
import { asText, readBytes, textLimit } from '../../lib/files/read-text.ts';
import { offsetInput, pageOf } from '../web/page-of.ts';

const input = z.object({ path: z.string(), offset: offsetInput });

/** `read_file {path}`: a text file of at most 200,000 bytes from the places that are seen here (T13); a relative path means the first of them, then the skill. */
export function readFileTool(places: FileScopes): Tool {
  const where = places.map(({ seen: [name] }) => name).join(', ');
  return defineTool({
    name: 'read_file',
    description: `Reads a text file from ${where}.`,
    input,
    traits: { ...readOnly, requiresFilesystem: true },
    run: async ({ path, offset }) => read(places, path, offset),
  });
}

function read(places: FileScopes, path: string, offset: number | undefined): Envelope {
  const found = findInScope(places, path);
  if (!found.ok) return fail(found.code, found.message);
  const { place, names } = found;
  if (place.kind === 'skill') {
    const file = readOfSkill(place, names, textLimit);
    return file.ok ? textOf(file.bytes, path, offset) : fail(file.code, file.message);
  }
  const descriptor = openIn(place, names);
  if (descriptor === undefined) return readBeside(places, path, names, offset);
  try {
    const file = readBytes(descriptor, textLimit);
    return file.ok ? textOf(file.bytes, path, offset) : fail(file.code, file.message);
  } finally {
    closeSync(descriptor);
  }
}

/** Instructions of a skill name its files relative to its own folder, so that is where a relative path leads next. */
function readBeside(
  places: FileScopes,
  path: string,
  names: readonly string[],
  offset: number | undefined,
): Envelope {
  const ofSkill = path.startsWith('/') ? undefined : places.find((place) => place.kind === 'skill');
  const file = ofSkill === undefined ? undefined : readOfSkill(ofSkill, names, textLimit);
  if (file?.ok === true) return textOf(file.bytes, path, offset);
  const { code, message } =
    file === undefined || file.code === 'FILE_NOT_FOUND' ? absent(places, path) : file;
  return fail(code, message);
}

function textOf(bytes: Buffer, path: string, offset: number | undefined): Envelope {
  const read = asText(bytes, path);
  return read.ok ? pageOf(read.text, offset) : fail(read.code, read.message);
}
