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

test('R7 what names its packages is run by uv, offline, after a command that fetches them', () => {
  const header = '# /// script\n# dependencies = ["rich"]\n# ///\n';
  const sync = { argv: ['uv', 'sync', '--quiet', '--script'], takesScript: true, lists: ['rich'] };
  const run = ['run', '--offline', '--quiet', '--script'];
  for (const [file, first] of [
    ['a.py', ''],
    ['a.py', '#!/usr/bin/env python3\n'],
    ['a', '#!/usr/bin/env -S uv run --script\n'],
    ['a', '#!/usr/bin/env -S uv run -s\n'],
  ] as const) {
    assert.deepEqual(scriptCommand(file, first + header), { program: 'uv', options: run, fetch: sync });
  }
  assert.deepEqual(scriptCommand('a', '#!/usr/bin/env -S uv run --with rich --script\nprint(1)\n'), {
    program: 'uv',
    options: ['run', '--offline', '--quiet', '--with', 'rich', '--script'],
    fetch: {
      argv: ['uv', 'run', '--quiet', '--with', 'rich', 'python', '-c', ''],
      takesScript: false,
      lists: [],
    },
  });
  for (const first of ['uvx --from x y', 'uv tool run --from x y']) {
    assert.deepEqual(scriptCommand('a', `#!/usr/bin/env -S ${first}\n`), {
      program: 'uvx',
      options: ['--offline', '--quiet', '--from', 'x', 'y'],
      fetch: { argv: ['uvx', '--quiet', '--from', 'x', 'y', '--help'], takesScript: false, lists: [] },
    });
  }
  assert.deepEqual(scriptCommand('a.py', 'print("# /// script")\n'), { program: 'python3', options: [] });
  assert.deepEqual(scriptCommand('a.sh', header), { program: 'sh', options: [] });
});

test('R7 a header that lists no packages takes no uv: python3 runs the script', () => {
  for (const block of [
    '# /// script\n# requires-python = ">=3.9"\n# ///\n',
    '# /// script\n# dependencies = []\n# ///\n',
    '# /// script\r\n# dependencies = [\r\n# ]\r\n# ///\r\n',
    '# /// script\n#\n# dependencies = [ ]\n# ///',
    '# /// script\n# dependencies = ["rich"]\n',
    '# /// script\n# ///\nx = """\n# dependencies = ["rich"]\n"""\n',
  ])
    for (const first of ['', '#!/usr/bin/env python3\n'])
      assert.deepEqual(
        scriptCommand('a.py', `${first}${block}print(1)`),
        { program: 'python3', options: [] },
        JSON.stringify(block),
      );
  for (const list of ['["rich"]', "[\n#   'rich',\n# ]", '[# a\n# # why "x"\n# "rich[extra]>=1"]'])
    assert.deepEqual(
      scriptCommand('a.py', `# /// script\n# dependencies = ${list}\n# ///\n`)?.fetch?.lists,
      ['rich'],
      list,
    );
});
