import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const root = path.join(import.meta.dirname, '..', '..');

/** Dice, ids and codes differ from run to run. */
function withoutChance(line: string): string {
  return line
    .trimEnd()
    .replace(/\b(?=\w*\d)[A-Z2-9]{8}\b|\b[A-Z]{8}\b/g, 'CODE')
    .replace(/(?<=: )[\d +]+ = \d+$/, 'ROLLED');
}

test('H5 what the documents show of conversations is what the scenes print', async () => {
  const page = readFileSync(path.join(root, 'docs/how-to/try-it.md'), 'utf8');
  const shown = /^## What people see.*?:\n\n(.*?)\n\n## /ms.exec(page)?.[1] ?? '';
  const { stdout } = await promisify(execFile)(process.execPath, ['examples/scenes.ts'], {
    cwd: root,
    timeout: 120_000,
  });
  const seen = stdout.trim().split('\n').map(withoutChance);
  const lines = shown.split('\n').map((line) => withoutChance(line.replace(/^ {4}/, '')));
  assert.ok(lines.length > 20);
  assert.equal(lines.length, seen.length);
  lines.forEach((line, at) => {
    if (line.endsWith('…')) assert.ok(seen[at]?.startsWith(line.slice(0, -1)), `${line}\n${seen[at]}`);
    else assert.equal(line, seen[at]);
  });
});
