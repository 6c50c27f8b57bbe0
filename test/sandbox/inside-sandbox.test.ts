import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { findProgram, sandboxEnvironment } from '../../src/sandbox/inside-sandbox.ts';

test(
  'R6 R7 a folder of PATH that may not be looked into has no programs, and the next one is asked',
  { skip: process.getuid?.() === 0 && 'root may look into every folder' },
  (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'skillet-path-'));
    const [closed, open] = [path.join(folder, 'closed'), path.join(folder, 'open')];
    t.after(() => {
      chmodSync(closed, 0o700);
      rmSync(folder, { recursive: true });
    });
    for (const each of [closed, open]) {
      mkdirSync(each);
      writeFileSync(path.join(each, 'tool'), '#!/bin/sh\n', { mode: 0o755 });
    }
    chmodSync(closed, 0);
    assert.equal(findProgram('tool', `relative:${closed}:${open}`), path.join(open, 'tool'));
    assert.equal(findProgram('tool', closed), undefined);
  },
);

test('T9 without a network package managers ask once; with one, or by the skill’s own word, they do as usual', () => {
  const closed = sandboxEnvironment({ PIP_RETRIES: '3' }, { network: [] });
  assert.equal(closed['npm_config_fetch_retries'], '0');
  assert.equal(closed['UV_HTTP_RETRIES'], '0');
  assert.equal(closed['PIP_RETRIES'], '3');
  const open = sandboxEnvironment({}, { network: ['registry.example'] });
  assert.deepEqual([open['npm_config_fetch_retries'], open['PIP_RETRIES']], [undefined, undefined]);
});
