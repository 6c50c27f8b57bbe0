import { existsSync, mkdirSync, rmdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { hasCode } from '../lib/has-code.ts';

/**
 * Makes a folder and those above it. Returns the ones it made, outermost first. Throws an error in plain words. Node's
 * recursive `mkdir` is not used, because below /proc it never returns.
 */
export function makeFolders(folder: string, mode: number): readonly string[] {
  const missing: string[] = [];
  let at = path.resolve(folder);
  for (; !existsSync(at); at = path.dirname(at)) missing.unshift(at);
  if (!statSync(at).isDirectory()) throw new Error(`${at} is a file, and a folder must be there`);
  return missing.filter((one) => makeFolder(one, mode));
}

/** Checks that a folder can be made, and leaves nothing behind. Throws if it can't. */
export function tryFolders(folder: string): void {
  for (const made of makeFolders(folder, 0o700).toReversed()) {
    try {
      rmdirSync(made);
    } catch (error) {
      // Somebody is using the folder by now.
      if (!hasCode(error, 'ENOTEMPTY', 'ENOENT')) throw error;
    }
  }
}

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
