import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const root = path.join(import.meta.dirname, '..');
const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
  packages: Readonly<
    Record<string, Readonly<{ dev?: boolean; devOptional?: boolean; optional?: boolean; peer?: boolean }>>
  >;
};

const block = 4_096;

/** What `du -m` says (blocks of 4 kB, 1,048,576 bytes each MB) of what `npm ci --omit=dev` would install here. */
function sizeOf(wanted: (one: (typeof lock.packages)[string]) => boolean): number {
  const folders = Object.entries(lock.packages).filter(([place, one]) => place !== '' && wanted(one));
  const bytes = folders.map(([place]) => sizeBelow(path.join(root, place)));
  return bytes.reduce((sum, one) => sum + one, 0) / 1_048_576;
}

/** Without packages inside it: they have entries of their own. */
function sizeBelow(folder: string): number {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .map((entry) => {
      const place = path.join(folder, entry.name);
      return entry.isDirectory() ? sizeBelow(place) : Math.ceil(statSync(place).size / block) * block;
    })
    .reduce((sum, one) => sum + one, block);
}

test('B5 S5 a production installation takes 120 MB at most, 200 MB with optional packages', (t) => {
  const needed = sizeOf(({ dev, devOptional, optional }) => !dev && !devOptional && !optional);
  const all = sizeOf(({ dev, devOptional, optional }) => !dev && (!devOptional || optional === true));
  t.diagnostic(`${needed.toFixed(0)} MB, with optional packages ${all.toFixed(0)} MB`);
  assert.ok(needed > 50, 'the packages are here');
  assert.ok(needed <= 120, `${needed.toFixed(1)} MB`);
  assert.ok(all <= 200, `${all.toFixed(1)} MB`);
});
