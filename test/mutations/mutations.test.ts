import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { applyMutation } from './apply-mutation.ts';
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
