import { createHash } from 'node:crypto';
import { closeSync, createReadStream, lstatSync, opendirSync, readlinkSync } from 'node:fs';
import { enterFolder, openInside, unlessRefused } from '../lib/files/open-inside.ts';
import type { FileScope, FileScopes } from './built-in/run-folders.ts';

/**
 * How many entries of a folder are looked at. In a larger folder all files count as named, by their sizes and times.
 */
const mostEntries = 2_000;
/** How many bytes of a file are hashed. A longer file also counts by its size and time. */
const mostBytes = 64_000_000;
/** How many bytes of a named file are searched for further names. */
const textBytes = 400_000;

type Known = Readonly<{ root: string; names: readonly string[]; path: string; stamp: string; link?: string }>;
type Folder = Readonly<{ seen: readonly string[]; files: readonly Known[]; cut: boolean; isSkill: boolean }>;

/**
 * A hash of the files that a call would read from its folders: those that its input names, and those that a named file
 * names in turn (S16). Undefined if there are none. It can't find names that only a running program knows, such as one
 * that a script puts together. A command that puts names together counts as naming all files.
 */
export async function hashNamedFiles(places: FileScopes, input: unknown): Promise<string | undefined> {
  const folders = places.map(look);
  const said = textsOf(input);
  const all = said.some((text) => computesNames.test(text));
  const found = new Map<Known, string>();
  const waiting = [...said];
  for (let text = waiting.pop(); text !== undefined; text = waiting.pop())
    for (const folder of folders)
      for (const file of namedBy(text, folder, all && !folder.isSkill)) {
        if (found.has(file)) continue;
        const { sha256, beginning } = await read(file, folder);
        found.set(file, sha256);
        if (beginning !== '') waiting.push(beginning);
      }
  const bound = folders.flatMap(({ files, seen, isSkill }) => {
    const own = isSkill ? [] : files.filter((file) => found.has(file));
    return own.map((file) => JSON.stringify([seen[0], file.path, found.get(file)]));
  });
  // A folder may list the same files in another order.
  const text = bound.sort().join('\n');
  return bound.length === 0 ? undefined : createHash('sha256').update(text).digest('hex');
}

/** Signs that a shell fills in names: patterns, variables, the output of commands, words in pieces. */
const computesNames = /[*?$`[{\\]|[^\s=]['"][^\s'"`;|&)]/;

function textsOf(input: unknown): readonly string[] {
  if (typeof input === 'string') return [input];
  if (typeof input !== 'object' || input === null) return [];
  return Object.values(input).flatMap(textsOf);
}

/**
 * The files of a folder that a text names: by path or name, with or without the ending, or by a folder above. `all`
 * takes each file.
 */
function namedBy(text: string, { seen, files, cut }: Folder, all: boolean): readonly Known[] {
  if (all || (cut && seen.some((place) => text.includes(place)))) return files;
  const words = new Set(text.match(/[\p{L}\p{N}\p{M}_-]+/gu));
  const folders = foldersIn(text, seen);
  return files.filter(({ names, path }) => {
    const name = names.at(-1) ?? '';
    const stem = name.replace(/\.[^.]*$/, '');
    const own = text.includes(name) || words.has(stem);
    return own || folders.some((folder) => folder === '' || path.startsWith(`${folder}/`));
  });
}

/** Paths below the folder that the text has in it. They may be files; '' is the folder itself. */
function foldersIn(text: string, seen: readonly string[]): readonly string[] {
  return seen.flatMap((place) =>
    text
      .split(place)
      .slice(1)
      .flatMap((rest) => {
        const [below = ''] = /^[^\s'"`;&|<>()]*/.exec(rest) ?? [];
        // This is another folder, whose name only begins like this one's.
        if (below !== '' && !below.startsWith('/')) return [];
        const whole = /[*?$[{]/.test(below) ? below.replace(/[^/]*[*?$[{].*$/, '') : below;
        const names = whole.split('/').filter((name) => name !== '' && name !== '.');
        return [names.includes('..') ? '' : names.join('/')];
      }),
  );
}

function look(place: FileScope): Folder {
  const { seen } = place;
  const isSkill = place.kind === 'skill';
  const root = isSkill ? place.skill.directory : place.host;
  const files: Known[] = [];
  const waiting: (readonly string[])[] = root === undefined ? [] : [[]];
  for (let way = waiting.pop(); way !== undefined && root !== undefined; way = waiting.pop()) {
    const folder = enterFolder(root, way);
    if (folder === undefined) continue;
    try {
      for (const name of entriesOf(folder.self, mostEntries - files.length)) {
        const stats = unlessRefused(() => lstatSync(folder.at(name)));
        const names = [...way, name];
        if (stats?.isDirectory() === true) waiting.push(names);
        else if (stats !== undefined)
          files.push({
            ...{ root, names, path: names.join('/') },
            stamp: `${stats.mode}:${stats.size}:${stats.mtimeMs}`,
            link: stats.isSymbolicLink() ? unlessRefused(() => readlinkSync(folder.at(name))) : undefined,
          });
      }
    } finally {
      folder.leave();
    }
    if (files.length + waiting.length >= mostEntries) return { seen, files, cut: true, isSkill };
  }
  return { seen, files, cut: false, isSkill };
}

function entriesOf(folder: string, most: number): readonly string[] {
  const names: string[] = [];
  const open = unlessRefused(() => opendirSync(folder));
  if (open === undefined) return names;
  try {
    for (let entry = open.readSync(); entry !== null && names.length < most; entry = open.readSync())
      names.push(entry.name);
  } finally {
    open.closeSync();
  }
  return names;
}

/** The hash of a file and its beginning. A link counts by its target, a file that can't be read by its stamp. */
async function read(
  { root, names, stamp, link }: Known,
  { cut }: Folder,
): Promise<Readonly<{ sha256: string; beginning: string }>> {
  if (link !== undefined) return { sha256: `link to ${link}`, beginning: link };
  const descriptor = cut ? undefined : openInside({ root, names }, { alone: false });
  if (descriptor === undefined) return { sha256: stamp, beginning: '' };
  const hash = createHash('sha256');
  const beginning: Buffer[] = [];
  let size = 0;
  try {
    const bytes = createReadStream('', { fd: descriptor, autoClose: false, end: mostBytes });
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      if (size < textBytes) beginning.push(chunk);
      size += chunk.length;
      hash.update(chunk);
    }
  } finally {
    closeSync(descriptor);
  }
  const sha256 = size > mostBytes ? `${hash.digest('hex')} ${stamp}` : hash.digest('hex');
  return { sha256, beginning: Buffer.concat(beginning).toString().slice(0, textBytes) };
}
