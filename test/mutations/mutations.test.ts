import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { applyMutation } from './apply-mutation.ts';
import { areas } from './areas.ts';
import { mutations } from './mutations.ts';

const root = path.join(import.meta.dirname, '../..');

test('each change of the list can be made, and names a test file that is there', () => {
  for (const mutation of mutations) {
    applyMutation(mutation, readFileSync(path.join(root, 'src', mutation.file), 'utf8'));
    const tests = path.join(root, 'test', mutation.test);
    assert.ok(existsSync(tests), mutation.test);
    if (mutation.only !== undefined)
      assert.ok(readFileSync(tests, 'utf8').includes(mutation.only), `${mutation.test}: ${mutation.only}`);
  }
  const names = mutations.map(({ name }) => name);
  assert.deepEqual([...new Set(names)], names, 'names are unique');
});

test('each area names files and tests that are there, and no file twice', () => {
  for (const { name, files, tests } of areas)
    for (const place of [...files.map((file) => `src/${file}`), ...tests.map((file) => `test/${file}`)])
      assert.ok(existsSync(path.join(root, place)), `${name}: ${place}`);
  const files = areas.flatMap((area) => area.files);
  assert.deepEqual([...new Set(files)], files);
});
