import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../../src/sandbox/inside-sandbox.ts';

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
