import { lstatSync } from 'node:fs';
import path from 'node:path';

/** Whether a program is in one of the folders of a system that lies in `root`; links count, as they may lead within it. */
export function hasProgram(root: string, folders: readonly string[], program: string): boolean {
  const places = program.includes('/') ? [program] : folders.map((folder) => path.join(folder, program));
  return places.some((place) => {
    const found = lstatSync(path.join(root, place), { throwIfNoEntry: false });
    return found !== undefined && (found.isSymbolicLink() || (found.isFile() && (found.mode & 0o111) !== 0));
  });
}
