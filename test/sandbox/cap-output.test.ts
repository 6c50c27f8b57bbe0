import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { capOutput, wholeEnd } from '../../src/sandbox/limits/cap-output.ts';

const numRuns = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);

test('R5 capped output begins and ends as the whole did, splits no character and says how much is missing', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\n', 'é', '😀'), maxLength: 400 });
  fc.assert(
    fc.property(text, fc.integer({ min: 10, max: 200 }), (whole, cap) => {
      const capped = capOutput(whole, cap);
      assert.equal(capped.truncated, whole.length > cap);
      if (!capped.truncated) return assert.equal(capped.text, whole);
      const [, head = '', count = '', tail = ''] =
        /^([^]*)\n\[… (\d+) characters left out …\]\n([^]*)$/.exec(capped.text) ?? [];
      assert.ok(whole.startsWith(head) && whole.endsWith(tail) && capped.text.isWellFormed());
      assert.ok(head.length + tail.length <= cap);
      assert.equal(head.length + tail.length + Number(count), whole.length);
    }),
    { numRuns },
  );
});

test('R5 the end of a text is whole characters', () => {
  assert.equal(wholeEnd('ab😀', 1), '');
  assert.equal(wholeEnd('ab😀', 3), 'b😀');
  assert.equal(wholeEnd('ab', 0), '');
});
