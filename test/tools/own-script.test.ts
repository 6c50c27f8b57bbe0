import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownScript, type ScriptGround } from '../../src/tools/own-script.ts';

const files: Readonly<Record<string, string>> = {
  'scripts/a.py': 'print(1)\n',
  'scripts/b.sh': '#!/usr/bin/env bash\necho\n',
  'scripts/c.sh': 'echo\n',
  'scripts/packed.py': '# /// script\n# dependencies = ["x"]\n# ///\n',
  'scripts/run': '#!/usr/bin/perl\n',
  'run.mjs': 'console.log(1)\n',
  'notes.md': 'text\n',
};
const ground: ScriptGround = {
  seen: '/skill',
  read: (path) => files[path],
  hides: (file) => file.split('/')[0] === 'mine',
};
const found = (command: string, more: Partial<ScriptGround> = {}): string => {
  const script = ownScript(command, { ...ground, ...more });
  return script === undefined ? '-' : [script.path, ...script.args].join('|');
};

test('R5 R7 a command that only starts a script of the skill is told, however its instructions write it', () => {
  assert.equal(found('/skill/scripts/b.sh "two words" x'), 'scripts/b.sh|two words|x');
  assert.equal(found('./scripts/b.sh'), 'scripts/b.sh');
  assert.equal(found('scripts/run a'), 'scripts/run|a');
  assert.equal(found('bash scripts/b.sh x'), 'scripts/b.sh|x');
  assert.equal(found('python scripts/a.py --flag'), 'scripts/a.py|--flag');
  assert.equal(found('python3 /skill/scripts/packed.py x'), 'scripts/packed.py|x');
  assert.equal(found('uv run scripts/packed.py x'), 'scripts/packed.py|x');
  assert.equal(found('uv run --script /skill/scripts/a.py'), 'scripts/a.py');
  assert.equal(found('node run.mjs'), 'run.mjs');
  assert.equal(found('uv run --no-config /skill/scripts/packed.py'), 'scripts/packed.py');
  assert.equal(
    found('uv run --no-project --python 3.12 -q scripts/a.py --verify x'),
    'scripts/a.py|--verify|x',
  );
  assert.equal(found('uv run --python=3.12 -- scripts/a.py'), 'scripts/a.py');
  assert.equal(found('cd /skill && uv run scripts/a.py x'), 'scripts/a.py|x');
  assert.equal(found('cd /skill && python3 scripts/a.py', { hides: () => true }), 'scripts/a.py');
});

test('R5 whatever is more, is run otherwise, or is not the skill alone, stays a command like any other', () => {
  for (const command of [
    'scripts/b.sh; id',
    'scripts/b.sh $HOME',
    'scripts/b.sh > out',
    'scripts/b.sh\nid',
    'bash -x scripts/b.sh',
    'bash scripts/a.py',
    'bash scripts/c.sh',
    'python scripts/b.sh',
    'python -m scripts.a',
    'uv run --with y scripts/packed.py',
    'uv tool run x',
    'uv run --directory /chat scripts/a.py',
    'uv run -m scripts.a',
    'cd /skill && id',
    'cd /chat && python3 scripts/a.py',
    'cd /skill && python3 scripts/a.py && id',
    'cd /skill && ../evil.sh',
    'env scripts/b.sh',
    'cat scripts/b.sh',
    'notes.md',
    './notes.md',
    'run.mjs',
    'scripts/none.sh',
    '/scratch/scripts/b.sh',
    '/etc/passwd',
    '../skill/scripts/b.sh',
    'node',
    '',
  ])
    assert.equal(found(command), '-', command);
  assert.equal(
    found('./scripts/b.sh', { hides: (file) => file === 'scripts/b.sh' }),
    '-',
    'as a shell finds it',
  );
  assert.equal(found('/skill/scripts/b.sh', { hides: () => true }), 'scripts/b.sh');
  assert.equal(found('/skills/scripts/b.sh'), '-');
});
