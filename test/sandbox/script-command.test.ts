import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptCommand } from '../../src/sandbox/script-command.ts';

test('R5 the first line of a script says what runs it', () => {
  const lines: readonly (readonly [string, string, readonly string[]])[] = [
    ['#!/bin/sh', 'sh', []],
    ['#!/bin/bash -eu', 'bash', ['-eu']],
    ['#! /usr/bin/env bash\r', 'bash', []],
    ['#!/usr/bin/env -S node --flag x', 'node', ['--flag', 'x']],
    ['#!/usr/bin/python', 'python3', []],
    ['#!/usr/bin/awk -f', 'awk', ['-f']],
  ];
  for (const [line, program, options] of lines) {
    assert.deepEqual(scriptCommand('scripts/x.py', `${line}\necho`), { program, options }, line);
  }
});

test('R5 without such a line the ending says it, and where neither does there is no answer', () => {
  const endings = { 'a.sh': 'sh', 'b.PY': 'python3', 'c.js': 'node', 'd.mjs': 'node', 'e.ts': 'node' };
  for (const [file, program] of Object.entries(endings)) {
    assert.deepEqual(scriptCommand(`scripts/${file}`, 'x'), { program, options: [] });
  }
  for (const text of ['x', '', '#!', '#!   ', '#!/usr/bin/env', ' #!/bin/sh', 'x\n#!/bin/sh']) {
    assert.equal(scriptCommand('scripts/run', text), undefined, JSON.stringify(text));
  }
});
