import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isPublicAddress } from '../../src/lib/net/connect-checked.ts';

const numRuns = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 500);

/** Refused IPv4 ranges by arithmetic, independent of the list that is tested. */
function isRefused([a, b, c, d]: readonly [number, number, number, number]): boolean {
  if ([0, 10, 127].includes(a) || a >= 224) return true;
  if (a === 100) return b >= 64 && b < 128;
  if (a === 169) return b === 254;
  if (a === 172) return b >= 16 && b < 32;
  if (a === 192) {
    return b === 168 || (b === 0 && (c === 0 || c === 2)) || (b === 88 && c === 99);
  }
  if (a === 198) return b === 18 || b === 19 || (b === 51 && c === 100);
  return (a === 203 && b === 0 && c === 113) || (a === 168 && b === 63 && c === 129 && d === 16);
}

const octet = fc.nat({ max: 255 });
const quad = fc.oneof(
  fc.tuple(octet, octet, octet, octet),
  // Near the ranges that matter, where random addresses seldom fall.
  fc.tuple(fc.constantFrom(10, 100, 127, 168, 169, 172, 192, 198, 203), octet, octet, octet),
  fc.tuple(
    fc.constantFrom(192, 198, 203, 168),
    fc.constantFrom(0, 18, 19, 51, 63, 88, 168),
    fc.constantFrom(0, 1, 2, 99, 100, 113, 129),
    fc.constantFrom(0, 15, 16, 17, 255),
  ),
);

const word = fc.nat({ max: 0xffff });
const hex = (words: readonly number[]): string => words.map((each) => each.toString(16)).join(':');
const low = ([a, b, c, d]: readonly [number, number, number, number]): readonly number[] => [
  a * 256 + b,
  c * 256 + d,
];

test('T3 IPv4: refused exactly where one of the ranges holds it', () => {
  fc.assert(
    fc.property(quad, (parts) => {
      assert.equal(isPublicAddress(parts.join('.')), !isRefused(parts));
    }),
    { numRuns },
  );
});

test('T3 no IPv6 form that carries an IPv4 address gets through, in any spelling', () => {
  const forms = fc.tuple(quad, word, word).map(([address, one, two]) => {
    const [first = 0, second = 0] = low(address);
    const dotted = address.join('.');
    return [
      `::ffff:${dotted}`,
      `::ffff:${hex([first, second])}`,
      `0:0:0:0:0:ffff:${hex([first, second])}`,
      `::${dotted}`,
      `::ffff:0:${dotted}`,
      `64:ff9b::${dotted}`,
      `64:ff9b:1:${hex([one, two])}::${hex([first, second])}`,
      `2002:${hex([first, second])}::${hex([one])}`,
      `2001:0:${hex([one, two, 0, 1])}:${hex([first ^ 0xffff, second ^ 0xffff])}`,
      `2a00:${hex([one, two, 7])}:0:5efe:${dotted}`,
      `2a00:${hex([one, two, 7])}:200:5efe:${hex([first, second])}`,
    ];
  });
  fc.assert(
    fc.property(forms, (list) => {
      for (const form of list) {
        assert.equal(isPublicAddress(form), false, form);
        assert.equal(isPublicAddress(form.toUpperCase()), false, form);
      }
    }),
    { numRuns },
  );
});

test('T3 IPv6: nothing outside 2000::/3 gets through, and an address is judged alike however it is written', () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 8, maxLength: 8 }), (words) => {
      const long = words.map((each) => each.toString(16).padStart(4, '0')).join(':');
      const short = new URL(`http://[${long}]`).hostname.slice(1, -1);
      const verdict = isPublicAddress(long);
      assert.equal(isPublicAddress(short), verdict, long);
      assert.equal(isPublicAddress(long.toUpperCase()), verdict, long);
      if (((words[0] ?? 0) & 0xe000) !== 0x2000) assert.equal(verdict, false, long);
    }),
    { numRuns },
  );
});

test('T3 text that is no address is refused and never throws', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-fx:.%]{1,40}$/)), (text) => {
      if (!/^\d+\.\d+\.\d+\.\d+$/.test(text) && !text.includes(':'))
        assert.equal(isPublicAddress(text), false);
      else assert.equal(typeof isPublicAddress(text), 'boolean');
    }),
    { numRuns },
  );
});
