import { z } from 'zod';
import { byteSize } from '../../lib/text/text.ts';
import { fail, succeed, type Envelope } from '../../core/envelope.ts';
import { defineTool, readOnly, type Tool } from '../../core/tool.ts';
import { listInside, type ListedFile, type Listing } from '../../lib/files/list-inside.ts';
import { absent, findInScope, type FileScope, type FileScopes } from './file-scopes.ts';

const input = z.object({ path: z.string().optional() });

/** `list_files {path?}`: files and folders from the places that are seen here; without a path those of run and conversation (T13). */
export function listFilesTool(places: FileScopes): Tool {
  const where = places.map(({ seen: [name] }) => name).join(', ');
  return defineTool({
    name: 'list_files',
    description: `Lists files in ${where}.`,
    input,
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
  if (listing !== undefined) return succeed(describe(listing));
  if (found.names.length === 0) return succeed(describe(undefined));
  const { code, message } = absent(places, path);
  return fail(code, message);
}

function list(place: FileScope, names: readonly string[]): Listing | undefined {
  const root = place.kind === 'skill' ? place.skill.directory : place.host;
  return root === undefined ? undefined : listInside(root, names);
}

function describe(listing: Listing | undefined): string {
  if (listing === undefined || listing.entries.length === 0) return 'empty';
  return [...listing.entries.map(line), ...(listing.cut ? ['… there is more'] : [])].join('\n');
}

/** A name that could pass for a line of its own, or for another name, stands in quotes and is written out. */
function line(file: ListedFile): string {
  const name = deceptive.test(file.path) ? written(file.path) : file.path;
  return file.kind === 'folder' ? `${name}/` : `${name} (${byteSize(file.size)})`;
}

const deceptive = /[\p{Cc}\p{Cf}\u2028\u2029"]/u;

function written(name: string): string {
  return JSON.stringify(name).replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
