import { existsSync, mkdirSync, rmdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Makes a folder and the missing ones above it, with this mode; returns those it made, the outermost first. Throws in plain
 * words where that can't be. Node's own way never ends where a folder refuses to hold another one although it is there:
 * below /proc.
 */
export function makeFolders(folder: string, mode: number): readonly string[] {
  const missing: string[] = [];
  let at = path.resolve(folder);
  for (; !existsSync(at); at = path.dirname(at)) missing.unshift(at);
  if (!statSync(at).isDirectory()) throw new Error(`${at} is a file, and a folder must be there`);
  return missing.filter((one) => makeFolder(one, mode));
}

/** Throws where a folder could not be made, and leaves everything as it was. */
export function tryFolders(folder: string): void {
  for (const made of makeFolders(folder, 0o700).toReversed()) {
    try {
      rmdirSync(made);
    } catch (error) {
      // Somebody uses it by now.
      if (!hasCode(error, 'ENOTEMPTY', 'ENOENT')) throw error;
    }
  }
}

/** False where another process has made it meanwhile. */
function makeFolder(folder: string, mode: number): boolean {
  try {
    mkdirSync(folder, { mode });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    const parent = path.dirname(folder);
    const why: Readonly<Record<string, string>> = {
      ENOENT: `${parent} takes no new folder`,
      EACCES: `this user may not write in ${parent}`,
      EPERM: `this user may not write in ${parent}`,
      EROFS: `${parent} is on a disk that can only be read`,
      ENOSPC: 'the disk is full',
    };
    const said = error instanceof Error && 'code' in error ? why[String(error.code)] : undefined;
    if (said === undefined) throw error;
    throw new Error(`${said}, so ${folder} can't be made`, { cause: error });
  }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
