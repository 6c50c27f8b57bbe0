import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { hasCode } from '../has-code.ts';

/**
 * Creates a file (0600) and its folder (0700). Nobody ever sees a part of the file, not even after a kill. If there is
 * one already, it returns false and changes nothing.
 */
export function createWhole(file: string, text: string): boolean {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID().slice(0, 8)}.new`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
