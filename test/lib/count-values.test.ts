import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createCountValues } from '../../src/lib/json/json-values.ts';

const runs = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);
const count = (text: string): number => createCountValues()(text);

test('X7 values are counted by commas and openings, those inside of texts are none', () => {
  assert.equal(count('{"a":[1,2,{"b":3}],"c":""}'), 6);
  assert.equal(count(JSON.stringify({ text: ',[{'.repeat(1_000) })), 1);
  assert.equal(count(JSON.stringify({ [',"\\"[']: '\\",', b: '\\\\' })), 2);
  assert.equal(count('"\n[0,0,0]'), 3, 'half a text hides nothing behind a line end');
});

test('X7 what comes in pieces, cut anywhere, counts as it would whole, and no fewer than its values', () => {
  const values = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? Object.values(value).reduce((sum: number, one) => sum + values(one), 1)
      : 1;
  fc.assert(
    fc.property(fc.json(), fc.array(fc.nat(200)), (text, cuts) => {
      const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
      const piecewise = createCountValues();
      const sum = places.slice(1).reduce((all, end, n) => all + piecewise(text.slice(places[n], end)), 0);
      assert.equal(sum, count(text));
      assert.ok(2 * sum + 1 >= values(JSON.parse(text)), text);
    }),
    { numRuns: runs },
  );
});
