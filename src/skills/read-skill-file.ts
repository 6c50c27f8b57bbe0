import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import type { Skill } from '../core/skill.ts';
import { decodeText } from './decode-text.ts';
import { pinBroken, pinProblem } from './lock-check.ts';
import { isInside } from './scan-root.ts';

/** A file of a skill is at most this many bytes (R4). */
export const fileLimit = 200_000;

export type ReadFileResult =
  | Readonly<{ ok: true; text: string; /** Bytes. */ size: number }>
  | Readonly<{
      ok: false;
      code: 'INVALID_PATH' | 'FILE_NOT_FOUND' | 'FILE_TOO_LARGE' | 'BINARY_FILE';
      message: string;
    }>;

type Failure = Extract<ReadFileResult, { ok: false }>;

/**
 * Reads a text file of a skill by its path inside the skill's folder (R4). A malformed path is told apart before the
 * disk is touched; absent, outside, a folder or a link all get the same answer. The checks are made on the open file. What
 * is given of an installed skill are bytes that were agreed to (D6).
 */
export function readSkillFile(skill: Pick<Skill, 'directory' | 'pin'>, path: string): ReadFileResult {
  const malformed = malformedPath(path);
  if (malformed !== undefined) return failure('INVALID_PATH', malformed);
  if (skill.directory === undefined) return notFound(path);
  const file = openInside(skill.directory, path);
  if (file === undefined) return notFound(path);
  try {
    const stats = fstatSync(file.descriptor);
    const now = statSync(file.realPath, { throwIfNoEntry: false });
    // Between looking and opening, something else may have been put there.
    if (!stats.isFile() || now?.ino !== stats.ino || now.dev !== stats.dev) return notFound(path);
    if (stats.size > fileLimit) return tooLarge(stats.size);
    const bytes = Buffer.alloc(fileLimit + 1);
    let size = 0;
    for (let read = -1; read !== 0 && size < bytes.length; size += read) {
      read = readSync(file.descriptor, bytes, size, bytes.length - size, null);
    }
    if (size > fileLimit) return tooLarge(size);
    const changed =
      skill.pin === undefined ? undefined : pinProblem(skill.pin, path, bytes.subarray(0, size));
    if (changed !== undefined && skill.pin !== undefined)
      return failure('FILE_NOT_FOUND', pinBroken(skill.pin, changed));
    const text = decodeText(bytes.subarray(0, size), false);
    if (text === undefined || text.includes('\0'))
      return failure('BINARY_FILE', `${path} is no text: ${typeOf(path, bytes)}, ${size} bytes`);
    return { ok: true, text, size };
  } finally {
    closeSync(file.descriptor);
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

function openInside(
  directory: string,
  path: string,
): Readonly<{ descriptor: number; realPath: string }> | undefined {
  try {
    const root = realpathSync(directory);
    const folder = realpathSync(join(root, dirname(path)));
    if (!isInside(root, folder)) return undefined;
    const realPath = join(folder, basename(path));
    // Non-blocking, so that a pipe with no writer cannot hold up the bot.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const descriptor = openSync(realPath, flags);
    if (realpathSync(realPath) === realPath) return { descriptor, realPath };
    closeSync(descriptor);
    return undefined;
  } catch (error) {
    // Whatever the file system says, it is one answer: no oracle (R4).
    if (error instanceof Error && 'syscall' in error) return undefined;
    throw error;
  }
}

const magics: readonly (readonly [string, string])[] = [
  ['89504e47', 'PNG image'],
  ['ffd8ff', 'JPEG image'],
  ['47494638', 'GIF image'],
  ['25504446', 'PDF document'],
  ['504b0304', 'ZIP archive'],
  ['1f8b', 'gzip data'],
  ['7f454c46', 'ELF program'],
  ['0061736d', 'WebAssembly'],
];

function typeOf(path: string, bytes: Buffer): string {
  const start = bytes.subarray(0, 4).toString('hex');
  const known = magics.find(([magic]) => start.startsWith(magic))?.[1];
  return known ?? (extname(path) === '' ? 'binary data' : `binary data (${extname(path)})`);
}

function notFound(path: string): Failure {
  return failure('FILE_NOT_FOUND', `the skill has no file ${JSON.stringify(path)}`);
}

function tooLarge(size: number): Failure {
  return failure('FILE_TOO_LARGE', `${size} bytes; at most ${fileLimit} can be read`);
}

function failure(code: Failure['code'], message: string): Failure {
  return { ok: false, code, message };
}
