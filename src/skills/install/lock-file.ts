import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import type { Pin, PinnedFile } from '../../core/skill.ts';
import { hasCode } from '../../lib/has-code.ts';

export type LockedSkill = Readonly<{
  name: string;
  /** Folder or flat file in the source, with `/`. Empty if the source itself is the skill. */
  path: string;
  commit?: string;
  /** When somebody approved it, as an ISO date. */
  agreedAt: string;
  files: readonly PinnedFile[];
}>;

/** A bundle whose files its servers need (F12). `path` is its folder in the source. */
export type LockedBundle = LockedSkill;

export type LockedSource = Readonly<{
  source: string;
  /** Branch, tag or commit. Undefined: the default branch. */
  ref?: string;
  skills: readonly LockedSkill[];
  /** Undefined if no bundle of this source keeps files. */
  bundles?: readonly LockedBundle[];
}>;

/** What `skills.lock.toml` says: approved skills by source. Each name is in it once. */
export type Lock = Readonly<{ sources: readonly LockedSource[] }>;

type LockReading = Readonly<{ ok: true; lock: Lock } | { ok: false; path: string; problem: string }>;

const hash = /^[0-9a-f]{64}$/;
/** A file's hash and path as `sha256sum` writes them: `sha256  path`. */
const fileLine = z.codec(
  z.string().regex(/^[0-9a-f]{64} {2}[^\p{Cc}\\]+$/u),
  z.object({ path: z.string(), sha256: z.string().regex(hash) }),
  {
    decode: (line) => ({ sha256: line.slice(0, 64), path: line.slice(66) }),
    encode: ({ sha256, path }) => `${sha256}  ${path}`,
  },
);
const lockedFiles = z.array(
  z
    .object({
      name: z.string().regex(/^[^/\\.\0][^/\\\0]*$/),
      path: z.string(),
      commit: z.string().optional(),
      agreed_at: z.string(),
      files: z.array(fileLine).min(1),
    })
    .transform(({ agreed_at: agreedAt, ...rest }): LockedSkill => ({ ...rest, agreedAt })),
);
const lockShape = z.object({
  version: z.literal(1),
  sources: z
    .array(
      z.object({
        source: z.string(),
        ref: z.string().optional(),
        skills: lockedFiles,
        bundles: lockedFiles.optional(),
      }),
    )
    .default([]),
});

export function lockPath(dataDir: string): string {
  return join(dataDir, 'skills.lock.toml');
}

export function installedRoot(dataDir: string): string {
  return join(dataDir, 'installed');
}

/** Path of an installed skill. It is named after its content, so that no folder mixes two versions. */
export function installedFolder(dataDir: string, skill: LockedSkill): string {
  return join(installedRoot(dataDir), contentHash(skill), skill.name);
}

/** Path of the files of a bundle. No skill has a `/` in its name, so none has this folder. */
export function bundleFolder(dataDir: string, { name, files }: LockedBundle): string {
  return join(installedRoot(dataDir), contentHash({ name: `bundle/${name}`, files }), name);
}

/** SHA-256 over a skill's name and the hashes of all its files. */
export function contentHash({ name, files }: Pick<LockedSkill, 'name' | 'files'>): string {
  const lines = files.map(({ path, sha256 }) => `${sha256}  ${path}\n`).sort();
  return createHash('sha256')
    .update(`${name}\n${lines.join('')}`)
    .digest('hex');
}

export function pinOf({ source }: LockedSource, skill: LockedSkill): Pin {
  const { name, commit, files } = skill;
  return { name, source, commit, files };
}

/**
 * Reads the lock. A missing file counts as empty. If the file can't be read, the result says so, and no installed skill
 * may be used.
 */
export function readLock(dataDir: string): LockReading {
  const path = lockPath(dataDir);
  const text = readIfThere(path);
  if (text === undefined) return { ok: true, lock: { sources: [] } };
  try {
    const read = lockShape.safeParse(parse(text));
    if (!read.success) return { ok: false, path, problem: z.prettifyError(read.error) };
    return { ok: true, lock: { sources: read.data.sources } };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { ok: false, path, problem: error.message };
  }
}

/** Replaces the lock file (mode 0600) atomically and syncs it to disk. */
export function writeLock(dataDir: string, { sources }: Lock): void {
  const path = lockPath(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = openSync(`${path}.new`, 'w', 0o600);
  try {
    writeSync(file, lockText(sources));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
  syncFolder(dirname(path));
}

/** Syncs a folder's entries to disk. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function lockText(sources: readonly LockedSource[]): string {
  const lines = [
    '# Installed skills, as they were agreed to. Written by `skillet skill add`, `update` and `remove`.',
    'version = 1',
  ];
  for (const { source, ref, skills, bundles = [] } of sources) {
    lines.push('', '[[sources]]', `source = ${quoted(source)}`);
    if (ref !== undefined) lines.push(`ref = ${quoted(ref)}`);
    if (skills.length === 0) lines.push('skills = []');
    lines.push(...skills.flatMap((skill) => lockedLines('skills', skill)));
    lines.push(...bundles.flatMap((bundle) => lockedLines('bundles', bundle)));
  }
  return `${lines.join('\n')}\n`;
}

function lockedLines(
  what: 'skills' | 'bundles',
  { name, path, commit, agreedAt, files }: LockedSkill,
): readonly string[] {
  return [
    ...['', `[[sources.${what}]]`, `name = ${quoted(name)}`, `path = ${quoted(path)}`],
    ...(commit === undefined ? [] : [`commit = ${quoted(commit)}`]),
    ...[`agreed_at = ${quoted(agreedAt)}`, 'files = ['],
    ...files.map((file) => `  ${quoted(fileLine.encode(file))},`),
    ']',
  ];
}

/** Quotes a text by JSON, whose escapes are all valid in TOML's basic strings. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
