import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const script = `
  const { openSync, closeSync } = await import('node:fs');
  const { sayIn } = await import(${JSON.stringify(new URL('../../src/core/texts/say.ts', import.meta.url).href)});
  const button = () => sayIn('de')(['This button has expired. Please ask me again.']);
  const held = [];
  try { for (;;) held.push(openSync('/dev/null')); } catch {}
  const without = button();
  for (const one of held) closeSync(one);
  process.stdout.write(JSON.stringify([without, button()]));
`;

test('S15 H14 without a free file descriptor people are answered in English, and in their language after that', () => {
  const args = ['--input-type=module', '--eval', script];
  const limited = ['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath, ...args];
  const { stdout, stderr } = spawnSync('/bin/sh', limited, { encoding: 'utf8' });
  assert.equal(
    stdout,
    '["This button has expired. Please ask me again.","Dieser Knopf ist abgelaufen. Bitte frag mich noch einmal."]',
    stderr,
  );
});
