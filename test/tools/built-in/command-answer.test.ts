import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderEnvelope } from '../../../src/core/envelope.ts';
import { answerCommand } from '../../../src/tools/built-in/command-answer.ts';

const said = (stderr: string, network: readonly string[]): string => {
  const outcome = { status: 'exited', exitCode: 6, stdout: '', stderr, truncated: false } as const;
  return renderEnvelope(answerCommand('scripts/a.sh', outcome, 1_000, { name: 'tides', network }));
};

test('R5 a command that fails for want of a network says who gives it one; any other failure does not', () => {
  const fix = /\[skills\.tides\] network = /;
  for (const words of [
    'curl: (6) Could not resolve host: api.example.com',
    'Error: getaddrinfo EAI_AGAIN api.example.com',
    'urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>',
  ]) {
    assert.match(said(words, []), fix, words);
    assert.doesNotMatch(said(words, ['api.example.com']), fix);
  }
  assert.doesNotMatch(said('no such file', []), fix);
});
