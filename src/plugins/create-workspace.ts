import { closeSync } from 'node:fs';
import { listInside } from '../lib/files/list-inside.ts';
import { absent, findPlace, openIn, readOfSkill, type Places } from '../tools/built-in/file-scopes.ts';
import { asText, readBytes, textLimit } from '../lib/files/read-text.ts';
import { writeIn } from '../tools/built-in/write-in.ts';
import type { Workspace, WorkspaceEntry } from './tool-context.ts';

/** Bytes of a file that is read or written. */
const largest = 20_000_000;

/** The files of these places, for a plugin's tool (X4, T13). What can't be had rejects with what a model is to be told. */
export function createWorkspace(places: Places, quota: number): Workspace {
  async function bytesOf(path: string, limit: number): Promise<Buffer> {
    const found = findPlace(places, path);
    if (!found.ok) throw new Error(found.message);
    const { place, names } = found;
    if (place.kind === 'skill') return bytesIn(readOfSkill(place, names, limit));
    const descriptor = openIn(place, names);
    if (descriptor === undefined) throw new Error(absent(places, path).message);
    try {
      return bytesIn(readBytes(descriptor, limit));
    } finally {
      closeSync(descriptor);
    }
  }

  return {
    read: async (path) => new Uint8Array(await bytesOf(path, largest)),
    async readText(path) {
      const read = asText(await bytesOf(path, textLimit), path);
      if (!read.ok) throw new Error(read.message);
      return read.text;
    },
    async write(path, data) {
      const bytes = typeof data === 'string' ? Buffer.from(data) : data;
      const problem = await writeIn(places, path, bytes, { largest, quota });
      if (problem !== undefined) throw new Error(problem.message);
    },
    async list(path) {
      if (path === undefined || path === '/') return places.flatMap((place) => listed(places, place.seen[0]));
      return listed(places, path);
    },
  };
}

function listed(places: Places, path: string): readonly WorkspaceEntry[] {
  const found = findPlace(places, path);
  if (!found.ok) throw new Error(found.message);
  const { place, names } = found;
  const root = place.kind === 'skill' ? place.skill.directory : place.host;
  const entries = root === undefined ? [] : (listInside(root, names)?.entries ?? []);
  // By the name that was asked for: an author looks for what they know.
  const asked = place.seen.find((each) => path === each || path.startsWith(`${each}/`)) ?? place.seen[0];
  const from = [asked, ...names].join('/');
  return entries.map((entry) => ({ ...entry, path: `${from}/${entry.path}` }));
}

type Read = Readonly<{ ok: true; bytes: Buffer } | { ok: false; message: string }>;

function bytesIn(read: Read): Buffer {
  if (read.ok) return read.bytes;
  throw new Error(read.message);
}
