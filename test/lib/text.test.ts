import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { oneLine, truncate } from '../../src/lib/text/text.ts';

const runs = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);

test('M3 a cut text keeps its limit, ends at a line where one is near, and says what was left out', () => {
  const { text, truncated } = truncate(`${'x'.repeat(90)}\n${'y'.repeat(5000)}`, 1000);
  assert.ok(truncated && text.length <= 1000);
  assert.match(text, /\n\[cut: \d+ of 5091 characters left out\]$/);
  const lines = truncate('line of text\n'.repeat(1000), 1000).text.split('\n');
  assert.equal(lines.at(-2), 'line of text');
  assert.deepEqual(truncate('short', 1000), { text: 'short', truncated: false });
});

test('M3 a cut never splits a surrogate pair', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('🙂', 'a', '\n')),
      fc.integer({ min: 60, max: 200 }),
      (parts, limit) => {
        const { text } = truncate(parts.join('').repeat(40), limit);
        assert.ok(text.isWellFormed() && (text.length <= limit || parts.length === 0));
      },
    ),
    { numRuns: runs },
  );
});

test('P2 one line is one line', () => {
  assert.equal(oneLine(' a\r\n\tb\u2028c\u0000 ', 80), 'a b c');
  assert.equal(oneLine('abcdefgh', 5), 'abcd…');
});
