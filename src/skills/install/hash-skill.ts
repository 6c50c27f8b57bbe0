import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  type BigIntStats,
  type Dirent,
} from 'node:fs';
import { join, normalize } from 'node:path';
import type { Pin } from '../../core/skill.ts';
import { readBytes } from '../../lib/files/read-text.ts';
import { skilletHere } from '../../core/skillet-here.ts';

/** The exact content of a skill's folder. */
export type SkillHash = Readonly<{
  /** SHA-256 in hex over all paths and contents. */
  hash: string;
  /** The files in path order. `sha256` is in hex; for a link it is the hash of its target. */
  files: readonly Readonly<{ path: string; size: number; sha256: string }>[];
}>;

/** A larger folder is not hashed, so it matches nothing. */
const mostFiles = 1_000;
const mostBytes = 20_000_000;

/**
 * Hashes a folder with its dot entries and without following links. Undefined if it is missing or too large, or has
 * anything but files.
 */
export function hashSkill(directory: string): SkillHash | undefined {
  const files: SkillHash['files'][number][] = [];
  let bytes = 0;
  const enter = (folder: string, way: string): boolean =>
    readdirSync(folder, { withFileTypes: true }).every((entry) => {
      const [path, place] = [way + entry.name, join(folder, entry.name)];
      if (entry.isDirectory()) return enter(place, `${path}/`);
      if (!entry.isFile() && !entry.isSymbolicLink()) return false;
      const content = entry.isFile() ? readFileSync(place) : Buffer.from(`link to ${readlinkSync(place)}`);
      bytes += content.length;
      files.push({ path, size: content.length, sha256: sha256Of(content) });
      return files.length <= mostFiles && bytes <= mostBytes;
    });
  try {
    if (!enter(directory, '')) return undefined;
  } catch (error) {
    // A file vanished or can't be read, so the folder can't be verified.
    if (error instanceof Error && 'syscall' in error) return undefined;
    throw error;
  }
  const sorted = files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const lines = sorted.map(({ path, sha256: hash }) => JSON.stringify([path, hash]));
  return { hash: sha256Of(lines.join('\n')), files: sorted };
}

/** How many bytes a file of an installed skill may have (D6). */
export const installedFileLimit = 5 * 1024 * 1024;

/** Hashes of files by absolute path. Each is valid as long as the file's stamp is unchanged. */
export type HashMemory = Map<string, Readonly<{ stamp: string; sha256: string }>>;

type PinnedBytes = Readonly<{ ok: true; bytes: Uint8Array }> | Readonly<{ ok: false; problem: string }>;

/** File systems have coarse clocks: a file that changes again within this time may keep its stamp. */
const stampDoubtMs = 100;

export function pinBroken({ name }: Pin, problem: string): string {
  return `${name}: ${problem} since it was agreed to, so it is not used; the operator can fix it with "${skilletHere()} skill update ${name}"`;
}

export function sha256Of(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Says how a file differs from what was approved. Undefined if its bytes are the approved ones (D6). */
export function pinProblem(files: Pin['files'], path: string, bytes: Uint8Array): string | undefined {
  const clean = normalize(path);
  const file = files.find((each) => each.path === clean);
  if (file === undefined) return `${JSON.stringify(path)} was added`;
  return sha256Of(bytes) === file.sha256 ? undefined : `${JSON.stringify(path)} was changed`;
}

/** Reads an approved file, and returns exactly the bytes whose hash was checked (D6). */
export function readPinned(directory: string, files: Pin['files'], path: string): PinnedBytes {
  const read = readWhole(join(directory, path));
  if (read === undefined) return { ok: false, problem: `${JSON.stringify(path)} went missing` };
  const problem = pinProblem(files, path, read.bytes);
  return problem === undefined ? { ok: true, bytes: read.bytes } : { ok: false, problem };
}

/**
 * Finds a missing, changed, added or special file in the folder of an installed skill. Undefined if the folder matches
 * the pin (D6). Hashes every file unless `memory` knows its stamp.
 */
export function checkPinned(directory: string, files: Pin['files'], memory?: HashMemory): string | undefined {
  const expected = new Map(files.map(({ path, sha256 }) => [path, sha256]));
  const folders = new Set(files.flatMap(({ path }) => foldersAbove(path)));
  const enter = (way: string): string | undefined => {
    for (const entry of entriesOf(join(directory, way))) {
      const path = way + entry.name;
      const named = JSON.stringify(path);
      if (entry.isDirectory()) {
        if (!folders.has(path)) return `${named} was added`;
        const inner = enter(`${path}/`);
        if (inner !== undefined) return inner;
        continue;
      }
      const sha256 = expected.get(path);
      if (sha256 === undefined) return `${named} was added`;
      if (!entry.isFile() || hashOf(join(directory, path), memory) !== sha256) return `${named} was changed`;
      expected.delete(path);
    }
    return undefined;
  };
  const problem = enter('');
  if (problem !== undefined) return problem;
  const [missing] = expected.keys();
  return missing === undefined ? undefined : `${JSON.stringify(missing)} went missing`;
}

function foldersAbove(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

function hashOf(path: string, memory: HashMemory | undefined): string | undefined {
  const known = memory?.get(path);
  const read = readWhole(path, known?.stamp);
  if (read === undefined) return undefined;
  if (read.unchanged) return known?.sha256;
  const sha256 = sha256Of(read.bytes);
  if (Date.now() - read.changedMs > stampDoubtMs) memory?.set(path, { stamp: read.stamp, sha256 });
  else memory?.delete(path);
  return sha256;
}

type Whole = Readonly<{ bytes: Uint8Array; stamp: string; changedMs: number; unchanged: boolean }>;

/**
 * Reads a whole file. It returns no bytes if the stamp is `known`, and undefined if this is no plain file or too long.
 */
function readWhole(path: string, known?: string): Whole | undefined {
  try {
    // A pipe without a writer must not block the bot.
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(file, { bigint: true });
      if (!stats.isFile()) return undefined;
      const stamp = stampOf(stats);
      const changedMs = Number(stats.ctimeNs) / 1e6;
      if (stamp === known) return { bytes: Buffer.alloc(0), stamp, changedMs, unchanged: true };
      const read = readBytes(file, installedFileLimit);
      return read.ok ? { bytes: read.bytes, stamp, changedMs, unchanged: false } : undefined;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return undefined;
    throw error;
  }
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return [];
    throw error;
  }
}
