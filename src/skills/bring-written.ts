import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { fetchFolder, storeFolder } from '../folders/carry-folder.ts';
import { hasCode, ifAbsent } from '../lib/has-code.ts';
import type { StoredFiles } from '../store/stored-files.ts';
import { hashSkill } from './install/hash-skill.ts';
import { isThere, replacedPath } from './prepare-draft.ts';
import { marker } from './written-marker.ts';

/**
 * The versions of a skill as recorded, newest first. `approved` may be in use, or come back if the newest is discarded.
 */
type Versions = Readonly<{ name: string; hashes: readonly string[]; approved?: string | undefined }>;

const group = 'skills';
const dayMs = 86_400_000;
const named = (hash: string): string => `${group}/${hash}`;

/**
 * Brings skills that the bot wrote to every process through the store, under the hash of their files (D9, Q14). What is
 * newest here is stored; what is newer elsewhere replaces the copy here as a whole. Files that somebody changed by hand
 * stay as they are.
 */
export async function bringWritten(
  root: string,
  records: () => Promise<ReadonlyMap<string, Versions>>,
  files: StoredFiles,
): Promise<void> {
  // The list comes first, because a version is recorded before it is stored.
  const stored = new Set(await files.list(group));
  const known = await records();
  for (const record of known.values()) await storeMissing(root, record, stored, files);
  await fetchAll(root, known, stored, files);
  const wanted = new Set([...known.values()].flatMap(({ hashes, approved }) => [hashes[0], approved]));
  const [inUse, left] = [true, false].map((use) =>
    [...stored].filter((folder) => wanted.has(path.basename(folder)) === use),
  );
  // This marks them as used. The others stay for a day, so that every process sees what was discarded.
  await files.versions(inUse ?? []);
  await files.removeUnused(left ?? [], Date.now() - dayMs);
}

/** Only fetches what is newer in the store, and changes nothing there. */
export async function fetchWritten(
  root: string,
  records: () => Promise<ReadonlyMap<string, Versions>>,
  files: StoredFiles,
): Promise<void> {
  const stored = new Set(await files.list(group));
  await fetchAll(root, await records(), stored, files);
}

async function storeMissing(
  root: string,
  { name, hashes: [newest], approved }: Versions,
  stored: ReadonlySet<string>,
  files: StoredFiles,
): Promise<void> {
  if (!isPlainName(name)) return;
  const place = path.join(root, name);
  const here = hashSkill(place)?.hash;
  for (const hash of [here, approved]) {
    const from = hash === here ? place : replacedPath(root, name);
    const isMissing =
      hash !== undefined && (hash === newest || hash === approved) && !stored.has(named(hash));
    if (isMissing && hashSkill(from)?.hash === hash) await storeFolder(from, named(hash), files);
  }
}

async function fetchAll(
  root: string,
  known: ReadonlyMap<string, Versions>,
  stored: ReadonlySet<string>,
  files: StoredFiles,
): Promise<void> {
  for (const record of known.values()) await fetchNewer(root, record, stored, files);
  for (const name of await markedIn(root)) {
    const hash = known.has(name) ? undefined : hashSkill(path.join(root, name))?.hash;
    // The skill was discarded in another process.
    if (hash !== undefined && stored.has(named(hash)))
      await rm(path.join(root, name), { recursive: true, force: true });
  }
}

async function fetchNewer(
  root: string,
  { name, hashes, approved }: Versions,
  stored: ReadonlySet<string>,
  files: StoredFiles,
): Promise<void> {
  if (!isPlainName(name)) return;
  const [newest] = hashes;
  const place = path.join(root, name);
  const here = hashSkill(place)?.hash;
  const isOurs =
    here === undefined
      ? !(await isThere(place))
      : here === approved || hashes.includes(here) || stored.has(named(here));
  if (newest !== undefined && newest !== here && isOurs && stored.has(named(newest)))
    await fetchTo(place, newest, files);
  // The approved version is kept beside, so that it can come back if the newest is discarded.
  const before = replacedPath(root, name);
  if (approved !== undefined && approved !== newest && stored.has(named(approved))) {
    if (hashSkill(before)?.hash !== approved) await fetchTo(before, approved, files);
  }
}

function isPlainName(name: string): boolean {
  return name === path.basename(name) && !name.startsWith('.');
}

/**
 * Fetches a version and puts it in place by one rename. Does nothing if the files do not have the hash that their name
 * says.
 */
async function fetchTo(place: string, hash: string, files: StoredFiles): Promise<void> {
  await mkdir(path.dirname(place), { recursive: true });
  const aside = await mkdtemp(path.join(path.dirname(place), '.writing-'));
  try {
    await fetchFolder(aside, named(hash), files);
    if (hashSkill(aside)?.hash !== hash) return;
    await rename(place, `${aside}-old`).catch(ifAbsent);
    await rename(aside, place).catch(unlessTaken);
  } finally {
    await rm(aside, { recursive: true, force: true });
    await rm(`${aside}-old`, { recursive: true, force: true });
  }
}

/** Ignores that another process has put it there, as several may share a workspace. */
function unlessTaken(error: unknown): void {
  if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
}

async function markedIn(root: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of (await readdir(root, { withFileTypes: true }).catch(ifAbsent)) ?? []) {
    if (!entry.isDirectory() || entry.name.startsWith('.')) continue;
    const inside = (await readdir(path.join(root, entry.name)).catch(ifAbsent)) ?? [];
    if (inside.includes(marker)) found.push(entry.name);
  }
  return found;
}
