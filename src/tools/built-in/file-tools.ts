import { closeSync, fstatSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { z } from 'zod';
import { fail, succeed, type Envelope } from '../../core/envelope.ts';
import { defineTool, readOnly, type Tool } from '../../core/tool.ts';
import { folderSize, listInside, type ListedFile, type Listing } from '../../lib/files/list-inside.ts';
import { openInside } from '../../lib/files/open-inside.ts';
import { asText, readBytes, textLimit } from '../../lib/files/read-text.ts';
import { writeInside } from '../../lib/files/write-inside.ts';
import { byteSize } from '../../lib/text/text.ts';
import {
  absent,
  findInScope,
  nameScopes,
  openIn,
  readOfSkill,
  type FileScope,
  type FileScopes,
} from './run-folders.ts';
import type { ToolRows } from '../../core/built-in-tools.ts';
import { fixed } from '../../core/texts/say.ts';

/** How people see these tools and who is offered them (T2, T5). */
export const fileToolRows = {
  read_file: {
    icon: '📄',
    title: fixed`Reading files`,
    says: fixed`Reads files of this conversation.`,
    doing: fixed`reading a file`,
    risk: 'safe',
    main: 'named',
    runs: 'default',
    inline: true,
    writes: 'nothing',
  },
  write_file: {
    icon: '📝',
    title: fixed`Writing files`,
    says: fixed`Writes files of this conversation.`,
    doing: fixed`writing a file`,
    risk: 'moderate',
    main: 'named',
    runs: 'default',
    writes: 'here',
  },
  list_files: {
    icon: '🗂',
    title: fixed`List of files`,
    says: fixed`Looks at what files there are here.`,
    doing: fixed`looking through the files`,
    risk: 'safe',
    main: 'named',
    runs: 'default',
    inline: true,
    writes: 'nothing',
  },
} satisfies ToolRows;

/** Bytes that `write_file` may write, and bytes of a skill's file that `send_file` may send. */
const writtenLimit = 1_000_000;

/** How many characters one answer has. This is below the limit of a tool's output. */
const pageLength = 25_000;

export const offsetInput = z
  .int()
  .min(0)
  .optional()
  .describe('character to read on from, where an earlier answer was cut');

/** Schemas are made once, not for each turn. */
const inputs = {
  read: z.object({ path: z.string(), offset: offsetInput }),
  list: z.object({ path: z.string().optional() }),
  write: z.object({ path: z.string(), content: z.string() }),
};

/** The part of a text that begins at `offset`, in characters. */
export function pageOf(text: string, offset = 0): Envelope {
  if (text === '') return succeed('The file is empty.');
  if (offset >= text.length)
    return fail('ARGUMENTS_INVALID', `the file has ${text.length} characters: offset must be below that`);
  const end = offset + pageLength;
  const page = text.slice(offset, end);
  if (end >= text.length) return succeed(page);
  const message = `characters ${offset} to ${end} of ${text.length}: read on with offset ${end}`;
  return succeed(page, [{ code: 'CONTENT_TRUNCATED', message }]);
}

/** `read_file {path, offset?}`: reads a text file of at most 200,000 bytes (T13). */
export function readFileTool(places: FileScopes): Tool {
  return defineTool({
    name: 'read_file',
    row: fileToolRows.read_file,
    description: `Reads a text file from ${nameScopes(places)}.`,
    input: inputs.read,
    traits: { ...readOnly, requiresFilesystem: true },
    async run({ path, offset }) {
      const file = bytesAt(places, path);
      if (!file.ok) return fail(file.code, file.message);
      const read = asText(file.bytes, path);
      return read.ok ? pageOf(read.text, offset) : fail(read.code, read.message);
    },
  });
}

/** All bytes of a file, if it has at most 200,000. */
export function bytesAt(places: FileScopes, path: string): ReturnType<typeof readOfSkill> {
  const found = findInScope(places, path);
  if (!found.ok) return found;
  const { place, names } = found;
  if (place.kind === 'skill') return readOfSkill(place, names, textLimit);
  const descriptor = openIn(place, names);
  if (descriptor === undefined) {
    // Instructions name files relative to the skill's folder.
    const ofSkill = path.startsWith('/') ? undefined : places.find(({ kind }) => kind === 'skill');
    const file = ofSkill?.kind === 'skill' ? readOfSkill(ofSkill, names, textLimit) : undefined;
    return file === undefined || (!file.ok && file.code === 'FILE_NOT_FOUND') ? absent(places, path) : file;
  }
  try {
    return readBytes(descriptor, textLimit);
  } finally {
    closeSync(descriptor);
  }
}

/** `list_files {path?}`: lists files; without a path those of the run and the conversation (T13). */
export function listFilesTool(places: FileScopes): Tool {
  return defineTool({
    name: 'list_files',
    row: fileToolRows.list_files,
    description: `Lists files in ${nameScopes(places)}.`,
    input: inputs.list,
    traits: { ...readOnly, requiresFilesystem: true },
    run: async ({ path }) => (path === undefined || path === '/' ? listAll(places) : listOne(places, path)),
  });
}

function listAll(places: FileScopes): Envelope {
  const own = places.filter(({ kind }) => kind !== 'skill');
  return succeed(own.map((place) => `${place.seen[0]}:\n${describe(list(place, []))}`).join('\n'));
}

function listOne(places: FileScopes, path: string): Envelope {
  const found = findInScope(places, path);
  if (!found.ok) return fail(found.code, found.message);
  const listing = list(found.place, found.names);
  if (listing !== undefined || found.names.length === 0) return succeed(describe(listing));
  const { code, message } = absent(places, path);
  return fail(code, message);
}

export function list(place: FileScope, names: readonly string[]): Listing | undefined {
  const root = place.kind === 'skill' ? place.skill.directory : place.host;
  return root === undefined ? undefined : listInside(root, names);
}

function describe(listing: Listing | undefined): string {
  if (listing === undefined || listing.entries.length === 0) return 'empty';
  return [...listing.entries.map(lineOf), ...(listing.cut ? ['… there is more'] : [])].join('\n');
}

const deceptive = /[\p{Cc}\p{Cf}\u2028\u2029"]/u;

function lineOf(file: ListedFile): string {
  const name = shownName(file.path);
  return file.kind === 'folder' ? `${name}/` : `${name} (${byteSize(file.size)})`;
}

/** Quotes a name that could pass for another line of the list. */
export function shownName(name: string): string {
  if (!deceptive.test(name)) return name;
  return JSON.stringify(name).replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** `write_file {path, content}`. `quota` is how many bytes the folder may hold in total. */
export function writeFileTool(places: FileScopes, quota: number): Tool {
  return defineTool({
    name: 'write_file',
    row: fileToolRows.write_file,
    description: `Writes a text file in ${nameScopes(writable(places))}; what was there is replaced.`,
    input: inputs.write,
    traits: { sideEffects: true, idempotent: true, requiresNetwork: false, requiresFilesystem: true },
    risk: 'moderate',
    async run({ path, content }) {
      const bytes = Buffer.from(content);
      const problem = await writeIn(places, path, bytes, { largest: writtenLimit, quota });
      if (problem !== undefined) return fail(problem.code, problem.message);
      return succeed(`${bytes.length} bytes were written.`);
    },
  });
}

function writable(places: FileScopes): readonly FileScope[] {
  return places.filter(({ kind }) => kind !== 'skill');
}

type Unwritten = Readonly<{
  code: 'INVALID_PATH' | 'FILE_NOT_FOUND' | 'FILE_TOO_LARGE';
  message: string;
}>;

/**
 * Writes a file. `largest` and `quota` are limits in bytes of the file and of its folder (T13). Returns what is wrong;
 * undefined if the file was written.
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
  if (place.kind === 'skill')
    return {
      code: 'INVALID_PATH',
      message: `${place.seen[0]} is read-only: write to ${nameScopes(writable(places))}`,
    };
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
