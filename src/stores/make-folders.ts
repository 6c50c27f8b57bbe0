import { existsSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Makes a folder and the missing ones above it, with this mode. Throws where that can't be. Node's own way never ends
 * where a folder refuses to hold another one although it is there: below /proc.
 */
export function makeFolders(folder: string, mode: number): void {
  const missing: string[] = [];
  for (let at = path.resolve(folder); !existsSync(at); at = path.dirname(at)) missing.unshift(at);
  for (const one of missing) makeFolder(one, mode);
  if (!statSync(folder).isDirectory()) throw new Error(`EEXIST: ${folder} is no folder`);
}

/** Another process may have made it meanwhile. */
function makeFolder(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
