import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFindSecrets, type Stretch } from '../../src/lib/redaction/find-secrets.ts';

const long = Array.from({ length: 60 }, (_, n) => `Q${n}`).join('.');
const words: ReadonlyMap<string, string> = new Map([
  ['abcdefgh', 'A'],
  ['abcdefgh-and-more', 'MORE'],
  ['efgh-and-less', 'LESS'],
  ['zzzzzzzz', 'Z'],
  ['line one\nline two', 'LINES'],
  ['äöü€äöü€x', 'UMLAUTS'],
  [long, 'LONG'],
]);
const find = createFindSecrets(words);

function placesOf(text: string, found: readonly Stretch[]): readonly string[] {
  return found.map(({ start, end, name }) => `${name} ${JSON.stringify(text.slice(start, end))}`);
}

test('U3 S2 every place of a secret is found, in order, the longest word first, overlapping ones as one', () => {
  for (const [text, places] of [
    ['', []],
    ['abcdefg', []],
    ['bcdefgh', []],
    ['abcdefgh', ['A "abcdefgh"']],
    ['abcdefgX', []],
    ['Xabcdefgh', ['A "abcdefgh"']],
    ['abcdefghX', ['A "abcdefgh"']],
    ['abcdefgabcdefgh', ['A "abcdefgh"']],
    ['abcdefghabcdefgh', ['A "abcdefgh"', 'A "abcdefgh"']],
    ['abcdefgh abcdefgh', ['A "abcdefgh"', 'A "abcdefgh"']],
    ['abcdefgh-and-more', ['MORE "abcdefgh-and-more"']],
    ['abcdefgh-and-mor', ['A "abcdefgh"']],
    ['abcdefgh-and-less', ['A "abcdefgh-and-less"']],
    ['<abcdefgh-and-moreabcdefgh>', ['MORE "abcdefgh-and-more"', 'A "abcdefgh"']],
    ['zzzzzzz', []],
    ['zzzzzzzzz', ['Z "zzzzzzzzz"']],
    ['zzzzzzzzzzzzzzzz', ['Z "zzzzzzzzzzzzzzzz"']],
    ['ABCDEFGH', []],
    ['line one line two', []],
    ['line oneline two', ['LINES "line oneline two"']],
    ['äöü€äöü€x', ['UMLAUTS "äöü€äöü€x"']],
    [`x${long}${long}y`, [`LONG "${long}"`, `LONG "${long}"`]],
    [`${'x'.repeat(1_000)}zzzzzzzz`, ['Z "zzzzzzzz"']],
  ] as const)
    assert.deepEqual(placesOf(text, find.all(text)), places, text.slice(0, 60));
});

test('U3 S2 line breaks anywhere in a secret are part of its place, those around it are not', () => {
  for (const [text, places] of [
    ['\n', []],
    ['\nabcdefgh\n', ['A "abcdefgh"']],
    ['\r\n\r\nabcdefgh\r\n', ['A "abcdefgh"']],
    ['abcd\nefgh', ['A "abcd\\nefgh"']],
    ['a\nb\rc\r\nd\n\n\ne\nf\ng\nh', ['A "a\\nb\\rc\\r\\nd\\n\\n\\ne\\nf\\ng\\nh"']],
    ['line one\r\nline two', ['LINES "line one\\r\\nline two"']],
    ['x\nabcd\nefgh\ny\nzzzz\r\nzzzz\n', ['A "abcd\\nefgh"', 'Z "zzzz\\r\\nzzzz"']],
    ['abcdefgh\nzzzzzzzz', ['A "abcdefgh"', 'Z "zzzzzzzz"']],
  ] as const)
    assert.deepEqual(placesOf(text, find.all(text)), places, JSON.stringify(text));
});

test('U3 S2 a text is open from where an unfinished secret may begin', () => {
  for (const [text, rest] of [
    ['', ''],
    ['hello', ''],
    ['a', 'a'],
    ['xa', 'a'],
    ['xab', 'ab'],
    ['xabc', 'abc'],
    ['xabx', ''],
    ['abcdefg', 'abcdefg'],
    ['abcdefgX', ''],
    ['abcdefgh', 'abcdefgh'],
    ['zzzzzzz', 'zzzzzzz'],
    // A whole word is not unfinished, but what may follow it is.
    ['zzzzzzzz', 'zzzzzzz'],
    ['abcdefgh-and-more', 'e'],
    ['abcdefgh-and', 'abcdefgh-and'],
    ['efgh-and-less', ''],
    ['abcdefgh-and-l', 'efgh-and-l'],
    ['ab\ncd', 'ab\ncd'],
    ['x\nab\ncd\n', 'ab\ncd\n'],
    ['x\n\nabcd', 'abcd'],
    ['xy\n', ''],
    ['line one', 'line one'],
    [long, ''],
    [long.slice(0, -1), long.slice(0, -1)],
    [`x${long.slice(0, -1)}`, long.slice(0, -1)],
    [`${long}${long.slice(0, -2)}`, long.slice(0, -2)],
  ] as const)
    assert.equal(text.slice(find.openFrom(text)), rest, JSON.stringify(text.slice(0, 60)));
});

test('U3 a single word of eight characters is found, too', () => {
  const one = createFindSecrets(new Map([['12345678', 'PIN']]));
  assert.deepEqual(one.all('0123456789 12345678'), [
    { start: 1, end: 9, name: 'PIN' },
    { start: 11, end: 19, name: 'PIN' },
  ]);
  assert.deepEqual([one.openFrom('12345678'), one.openFrom('x1234567'), one.openFrom('x\n1')], [8, 1, 2]);
});
