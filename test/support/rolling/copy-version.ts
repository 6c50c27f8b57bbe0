import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

const root = path.join(import.meta.dirname, '../../..');
const parts = ['src', 'bin', 'skills', 'package.json'];

/** Text to find in a file of the sources, and what stands there in the copy. */
export type Patch = Readonly<{ file: string; find: string; put: string }>;

/** These sources with changes, as another version. Returns its program. */
export function copyPatched(t: TestContext, patches: readonly Patch[]): string {
  const folder = makeFolder(t);
  for (const part of parts) cpSync(path.join(root, part), path.join(folder, part), { recursive: true });
  for (const { file, find, put } of patches) {
    const place = path.join(folder, file);
    const text = readFileSync(place, 'utf8');
    if (!text.includes(find)) throw new Error(`${file} has no ${find}`);
    writeFileSync(
      place,
      text.replace(find, () => put),
    );
  }
  return path.join(folder, 'bin/skillet.js');
}

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-version-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  return folder;
}
