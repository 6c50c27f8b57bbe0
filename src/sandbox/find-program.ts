import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** Where the host keeps a program that may be run: the first of `searchPath` (`a:b`), or nothing. */
export function findProgram(name: string, searchPath: string): string | undefined {
  for (const folder of searchPath.split(':')) {
    if (!path.isAbsolute(folder)) continue;
    const file = path.join(folder, name);
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === true && isExecutable(file)) return file;
  }
  return undefined;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EACCES') return false;
    throw error;
  }
}
