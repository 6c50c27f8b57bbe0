import { statfsSync } from 'node:fs';

/**
 * Bytes that this user may still write in the folder. Undefined if the file system can't tell, as some network file
 * systems; then nothing is held back.
 */
export function freeSpace(folder: string): number | undefined {
  try {
    const { bavail, bsize, blocks } = statfsSync(folder);
    return blocks === 0 ? undefined : bavail * bsize;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
