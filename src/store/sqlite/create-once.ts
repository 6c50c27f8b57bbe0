import { closeSync, openSync } from 'node:fs';

/** Creates an empty file for this user alone (0600) where there is none; one that is there is not opened, and stays as it is. */
export function createOnce(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
