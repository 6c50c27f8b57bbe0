import { closeSync, readFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { openInside } from '../../lib/files/open-inside.ts';
import { writeInside } from '../../lib/files/write-inside.ts';

/** Where files for a terminal are put within its conversation's folder. */
const place = 'sent';
const mostNames = 100;

/**
 * Puts a file for somebody at a terminal into their conversation's folder, and gives its path. The same bytes under the same
 * name are there once, however often they are sent; other bytes get a name with a number.
 */
export async function saveForTerminal(
  folder: string,
  file: Readonly<{ name: string; path: string }>,
): Promise<string> {
  const bytes = await readFile(file.path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { name, ext } = path.parse(file.name);
  for (let n = 1; n <= mostNames; n++) {
    const names = [place, n === 1 ? file.name : `${name} (${n})${ext}`];
    const there = openInside({ root: folder, names }, { alone: true });
    const same = there === undefined ? writeInside({ root: folder, names }, bytes) : holds(there, bytes);
    if (same) return path.join(folder, ...names);
  }
  throw new Error(`${path.join(folder, place)} takes no file called ${file.name}`);
}

function holds(descriptor: number, bytes: Buffer): boolean {
  try {
    return readFileSync(descriptor).equals(bytes);
  } finally {
    closeSync(descriptor);
  }
}
