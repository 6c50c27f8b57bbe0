import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isGlob, matchesGlob } from '../../src/tools/policy.ts';
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

test('T5 sets list letters and ranges, and what is no set is what it says', () => {
  const cases: readonly (readonly [pattern: string, fits: readonly string[], not: readonly string[]])[] = [
    ['[a-c]x', ['ax', 'bx', 'cx'], ['dx', '-x', 'x', '`x']],
    ['[ac]', ['a', 'c'], ['b', '-', 'ac']],
    ['[a-cx-z_]', ['b', 'y', '_'], ['d', 'w', '-']],
    ['[!a-c]', ['d', '-', '!'], ['a', 'b', 'c', '']],
    ['[!]', ['!'], ['[!]', 'a']],
    ['[a-]', ['a', '-'], ['b', ']']],
    ['[a', ['[a'], ['a', '[']],
    ['[]', ['[]'], ['', 'a']],
    [`[${'a'.repeat(101)}]`, [`[${'a'.repeat(101)}]`], ['a']],
    [`[${'a'.repeat(100)}]`, ['a'], [`[${'a'.repeat(100)}]`]],
    ['a?c', ['abc', 'a😀c', 'a?c'], ['ac', 'abbc']],
    ['a**', ['a', 'abc'], ['b']],
    ['*', ['', 'x'], []],
    ['web_*', ['web_', 'web_fetch'], ['xweb_', 'web']],
    ['*_fetch', ['web_fetch'], ['web_fetch_', 'fetch']],
    ['web.fetch', ['web.fetch'], ['web_fetch']],
    ['', [''], ['a']],
  ];
  for (const [pattern, fits, not] of cases) {
    for (const text of fits) assert.equal(matchesGlob(pattern, text), true, `${pattern} ${text}`);
    for (const text of not) assert.equal(matchesGlob(pattern, text), false, `${pattern} not ${text}`);
  }
  assert.deepEqual(['a', 'a*', 'a?', '[a]', 'a]', '!'].filter(isGlob), ['a*', 'a?', '[a]']);
});
