import { closeSync, realpathSync } from 'node:fs';
import path from 'node:path';
import type { Skill } from '../core/skill.ts';
import { unlessRefused } from '../lib/files/enter-folder.ts';
import { openInside } from '../lib/files/open-inside.ts';
import { asText, readBytes, textLimit } from '../lib/files/read-text.ts';
import { pinBroken, pinProblem } from './install/lock-check.ts';
import { isInside } from './scan-root.ts';

/** Why a file of a skill can't be had. */
type Failure = Readonly<{
  ok: false;
  code: 'INVALID_PATH' | 'FILE_NOT_FOUND' | 'FILE_TOO_LARGE' | 'BINARY_FILE';
  message: string;
}>;

export type ReadFileResult = Readonly<{ ok: true; text: string; /** Bytes. */ size: number }> | Failure;

/** Reads a text file of a skill by its path inside the skill's folder, at most 200,000 bytes (R4). */
export function readSkillFile(skill: Pick<Skill, 'directory' | 'pin'>, path: string): ReadFileResult {
  const read = readSkillBytes(skill, path, textLimit);
  return read.ok ? asText(read.bytes, path) : read;
}

/**
 * Reads a file of a skill by its path inside the skill's folder (R4). A malformed path is told apart before the disk is
 * touched; absent, outside, a folder or a link all get the same answer. Folders on the way may be links that stay inside.
 * What is given of an installed skill are bytes that were agreed to (D6).
 */
export function readSkillBytes(
  { directory, pin }: Pick<Skill, 'directory' | 'pin'>,
  file: string,
  limit: number,
): Readonly<{ ok: true; bytes: Buffer }> | Failure {
  const malformed = malformedPath(file);
  if (malformed !== undefined) return failure('INVALID_PATH', malformed);
  // As in the index (R3): `.env` and `.git` are no part of a skill.
  const isHidden = file.split('/').some((name) => /^\.[^/]/.test(name));
  const descriptor = directory === undefined || isHidden ? undefined : openBelow(directory, file);
  if (descriptor === undefined)
    return failure('FILE_NOT_FOUND', `the skill has no file ${JSON.stringify(file)}`);
  try {
    const read = readBytes(descriptor, limit);
    if (!read.ok || pin === undefined) return read;
    const changed = pinProblem(pin, file, read.bytes);
    return changed === undefined ? read : failure('FILE_NOT_FOUND', pinBroken(pin, changed));
  } finally {
    closeSync(descriptor);
  }
}

/** What is wrong with the form of a path inside a skill; nothing when it is well formed. */
export function malformedPath(path: string): string | undefined {
  if (path === '' || path.length > 1024) return 'give a relative path inside the skill';
  if (path.includes('\0')) return 'the path holds a NUL';
  if (path.includes('\\')) return 'write "/" between folders, no "\\"';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'the path must be relative to the skill';
  if (path.split('/').includes('..')) return 'the path must not hold ".."';
  if (path.endsWith('/')) return 'the path names a folder';
  return undefined;
}

/** The links on the way are read first; from then on none is followed. A file of a package may have other names elsewhere. */
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
