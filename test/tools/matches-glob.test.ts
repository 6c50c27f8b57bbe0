import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { matchesGlob } from '../../src/tools/policy.ts';
import { processorMs } from '../support/machine-time.ts';

const numRuns = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);

test('T5 globs agree with the same pattern written as a regular expression', () => {
  const piece = fc.constantFrom('a', 'b', '_', '*', '?', '[ab]', '[!a]', '[a-b]', '**');
  const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '_'), maxLength: 8 });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 5 }), name, (pieces, text) => {
      const expression = pieces.map((each) =>
        each.replace(/\*+/, '.*').replace('?', '.').replace('[!', '[^'),
      );
      const expected = new RegExp(`^(?:${expression.join('')})$`, 'u').test(text);
      assert.equal(matchesGlob(pieces.join(''), text), expected, `${pieces.join('')} ${text}`);
    }),
    { numRuns: numRuns * 5 },
  );
});

test('T5 a hostile glob takes no longer than a harmless one', () => {
  const took = processorMs(() => {
    assert.equal(matchesGlob('*a'.repeat(500) + 'b', 'a'.repeat(1_000)), false);
  });
  assert.ok(took < 5_000, `${took} ms`);
});
