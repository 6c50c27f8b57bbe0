import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * Gives what runs in this process a folder of its own for temporary files, until the test ends: in that of the machine
 * other processes make and remove theirs at any time.
 */
export function ownTemporary(t: Readonly<{ after(end: () => void): void }>): string {
  const before = process.env['TMPDIR'];
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-temporary-'));
  process.env['TMPDIR'] = folder;
  t.after(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
