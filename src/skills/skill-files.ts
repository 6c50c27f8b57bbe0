import { readdirSync, closeSync, realpathSync, type Dirent } from 'node:fs';
import path, { join } from 'node:path';
import type { Skill, SkillFolder } from '../core/skill.ts';
import { unlessRefused, openInside } from '../lib/files/open-inside.ts';
import { asText, readBytes, textLimit } from '../lib/files/read-text.ts';
import { pinBroken, pinProblem } from './install/hash-skill.ts';
import { distribution } from './parse/read-fields.ts';
import { isSkillFileName, isInside } from './scan-root.ts';

/** Paths of a skill's files, relative to its folder, with `/` (R3). */
type SkillFiles = Readonly<{
  /** All files in path order, without SKILL.md. */
  files: readonly string[];
  scripts: readonly string[];
  /** True if there are more than 100 files, or files deeper than 6 folders. */
  cut: boolean;
}>;

const fileLimit = 100;
const depthLimit = 6;

/**
 * Lists a skill's files without dot entries, links, `node_modules`, and names with line breaks (R3). Of an installed
 * skill it lists only approved files (D6). A flat skill has none.
 */
export function listSkillFiles(skill: SkillFolder): SkillFiles {
  const pinned = skill.pin === undefined ? undefined : new Set(skill.pin.files.map(({ path }) => path));
  const found: string[] = [];
  let cut = false;
  const enter = (folder: string, way: string, depth: number): void => {
    for (const entry of readSorted(folder)) {
      if (cut && found.length >= fileLimit) return;
      const path = way + entry.name;
      if (entry.name.startsWith('.') || entry.name === 'node_modules' || unprintable.test(entry.name))
        continue;
      if (entry.isDirectory()) {
        if (depth < depthLimit) enter(join(folder, entry.name), `${path}/`, depth + 1);
        else cut = true;
      } else if (pinned !== undefined && !pinned.has(path)) {
        continue;
      } else if (entry.isFile() && !(way === '' && isSkillFileName(entry.name))) {
        if (found.length < fileLimit) found.push(path);
        else cut = true;
      }
    }
  };
  if (skill.directory !== undefined) enter(skill.directory, '', 1);
  const files = found.sort();
  return { files, scripts: files.filter(isScriptPath), cut };
}

const unprintable = /[\p{Cc}\p{Cf}\u2028\u2029\\]/u;

/** Whether a file can be run: it lies below `scripts/` or has a known extension (R5). */
export function isScriptPath(path: string): boolean {
  return path.startsWith('scripts/') || /\.(?:sh|py|js|mjs|ts)$/.test(path);
}

/** Folders of the specification come first, so that a cut list lacks other files. */
function rank({ name }: Dirent): number {
  const place = ['scripts', 'references', 'assets'].indexOf(name);
  return place === -1 ? 3 : place;
}

function readSorted(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort(
      (a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1),
    );
  } catch (error) {
    // The folder was removed or became unreadable after the skill was loaded.
    if (error instanceof Error && 'syscall' in error) return [];
    throw error;
  }
}

type Failure = Readonly<{
  ok: false;
  code: 'INVALID_PATH' | 'FILE_NOT_FOUND' | 'FILE_TOO_LARGE' | 'BINARY_FILE';
  message: string;
}>;

export type ReadFileResult =
  Readonly<{ ok: true; text: string; /** How many bytes the file has. */ size: number }> | Failure;

/** Reads a text file of at most `maxBytes` (R4). */
export function readSkillFile(skill: SkillFolder, path: string, maxBytes = textLimit): ReadFileResult {
  const read = readSkillBytes(skill, path, maxBytes);
  return read.ok ? asText(read.bytes, path) : read;
}

/**
 * Reads a file of a skill (R4). A malformed path fails before the disk is touched. A path that is missing, outside, a
 * folder or a link gets the same answer. Folders may be links that stay inside. Of an installed skill only approved
 * bytes are read (D6).
 */
export function readSkillBytes(
  { directory, pin }: SkillFolder,
  file: string,
  limit: number,
): Readonly<{ ok: true; bytes: Buffer }> | Failure {
  const malformed = malformedPath(file);
  if (malformed !== undefined) return failure('INVALID_PATH', malformed);
  // As in the list of files (R3), `.env` and `.git` are no part of a skill.
  const isHidden = file.split('/').some((name) => /^\.[^/]/.test(name));
  const descriptor = directory === undefined || isHidden ? undefined : openBelow(directory, file);
  if (descriptor === undefined)
    return failure('FILE_NOT_FOUND', `the skill has no file ${JSON.stringify(file)}`);
  try {
    const read = readBytes(descriptor, limit);
    if (!read.ok || pin === undefined) return read;
    const changed = pinProblem(pin.files, file, read.bytes);
    return changed === undefined ? read : failure('FILE_NOT_FOUND', pinBroken(pin, changed));
  } finally {
    closeSync(descriptor);
  }
}

export function malformedPath(path: string): string | undefined {
  if (path === '' || path.length > 1024) return 'give a relative path inside the skill';
  if (path.includes('\0')) return 'the path holds a NUL';
  if (path.includes('\\')) return 'write "/" between folders, no "\\"';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'the path must be relative to the skill';
  if (path.split('/').includes('..')) return 'the path must not hold ".."';
  if (path.endsWith('/')) return 'the path names a folder';
  return undefined;
}

/**
 * Opens a file after resolving links in its folders; the file itself must be no link. Hard links are allowed, because
 * packages have them.
 */
function openBelow(directory: string, file: string): number | undefined {
  return unlessRefused(() => {
    const root = realpathSync(directory);
    const folder = realpathSync(path.join(root, path.dirname(file)));
    if (!isInside(root, folder)) return undefined;
    const way = path.relative(root, folder);
    const names = [...(way === '' ? [] : way.split(path.sep)), path.basename(file)];
    return openInside({ root, names }, { alone: false });
  });
}

function failure(code: Failure['code'], message: string): Failure {
  return { ok: false, code, message };
}

/** PyPI packages that a skill names in `requires.pip` or `requirements.txt`. */
export function pythonNeeds(skill: Skill): readonly string[] {
  const listed = ['requirements.txt', 'scripts/requirements.txt'].flatMap((file) => {
    const found = skill.directory === undefined ? undefined : readSkillFile(skill, file);
    return found?.ok === true ? found.text.split('\n').flatMap((line) => distribution(line) ?? []) : [];
  });
  return [...new Set([...skill.python, ...listed])];
}
