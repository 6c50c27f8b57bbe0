import { lstatSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { changeableByOthers } from '../files/changeable-by-others.ts';

const installation = path.join(import.meta.dirname, '../..');

/**
 * A folder for compiled code that this user alone can write, or nothing. Code is read from there and run as it stands, and
 * without a folder Node takes one below /tmp that anybody can make first (S10).
 */
export function compileCacheFolder(
  places: readonly string[] = [
    path.join(installation, 'node_modules/.cache/skillet'),
    path.join(homedir(), '.cache/skillet'),
  ],
): string | undefined {
  return places.find(isOurs);
}

function isOurs(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stat = lstatSync(folder);
    const us = process.getuid?.() ?? stat.uid;
    return stat.isDirectory() && stat.uid === us && changeableByOthers(folder) === undefined;
  } catch (error) {
    // One that can't be made or looked at is none of ours.
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}
