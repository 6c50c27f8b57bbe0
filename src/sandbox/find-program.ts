import { accessSync, constants, statSync, lstatSync } from 'node:fs';
import path from 'node:path';

/** Where the host keeps a program that may be run: the first of `searchPath` (`a:b`), or nothing. A folder that may not be looked into has none. */
export function findProgram(name: string, searchPath: string): string | undefined {
  return searchPath
    .split(':')
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, name))
    .find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && ['EACCES', 'ENOTDIR'].includes(String(error.code)))
      return false;
    throw error;
  }
}

/** Whether a program is in one of the folders of a system that lies in `root`; links count, as they may lead within it. */
export function hasProgram(root: string, folders: readonly string[], program: string): boolean {
  const places = program.includes('/') ? [program] : folders.map((folder) => path.join(folder, program));
  return places.some((place) => {
    const found = lstatSync(path.join(root, place), { throwIfNoEntry: false });
    return found !== undefined && (found.isSymbolicLink() || (found.isFile() && (found.mode & 0o111) !== 0));
  });
}
