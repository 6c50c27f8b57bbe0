import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createRedaction,
  createRedactor,
  redactDeep,
  redactTexts,
  secretForms,
} from '../../src/lib/redaction/redact.ts';

const redactorOf = (...values: readonly string[]) =>
  createRedactor(values.map((value, index) => ({ name: `K${index}`, value })));

test('U3 each way in which programs write a value is one of its forms', () => {
  const value = `a/b c~(d)'"<ü`;
  const forms = secretForms(value);
  for (const form of [
    value,
    // JSON, as Node, Python, PHP, Go and .NET write it, and JSON in JSON.
    String.raw`a/b c~(d)'\"<ü`,
    String.raw`a/b c~(d)'\"<\u00fc`,
    String.raw`a\/b c~(d)'\"<ü`,
    String.raw`a\/b c~(d)'\"<\u00fc`,
    String.raw`a/b c~(d)'\"\u003cü`,
    String.raw`a/b c~(d)\u0027\u0022\u003C\u00FC`,
    String.raw`a/b c~(d)'\\\"<ü`,
    String.raw`a\\/b c~(d)'\\\"<\\u00fc`,
    // In a URL: a component, of strict writers, a path, a whole URL, as old ones write it, as forms do.
    `a%2Fb%20c~(d)'%22%3C%C3%BC`,
    'a%2Fb%20c~%28d%29%27%22%3C%C3%BC',
    'a/b%20c~%28d%29%27%22%3C%C3%BC',
    `a/b%20c~(d)'%22%3C%C3%BC`,
    'a%2Fb%20c%7E%28d%29%27%22%3C%C3%BC',
    'a%2Fb+c~%28d%29%27%22%3C%C3%BC',
    'a%2fb%20c~%28d%29%27%22%3c%c3%bc',
    'a%2fb+c%7e%28d%29%27%22%3c%c3%bc',
    // Of its bytes.
    '612f6220637e2864292722' + '3cc3bc',
    '612F6220637E28642927223CC3BC',
    '61 2f 62 20 63 7e 28 64 29 27 22 3c c3 bc',
    '61:2f:62:20:63:7e:28:64:29:27:22:3c:c3:bc',
    '61-2F-62-20-63-7E-28-64-29-27-22-3C-C3-BC',
    '612f 6220 637e 2864 2927 223c c3bc',
    '61 2f62 2063 7e28 6429 2722 3cc3 bc',
    '61 2f 62 20 63 7e 28 64  29 27 22 3c c3 bc',
    'YS9iIGN+KGQpJyI8w7w=',
    'YS9iIGN-KGQpJyI8w7w',
  ])
    assert.ok(forms.includes(form), form);
  assert.equal(new Set(forms).size, forms.length, 'each once');
  assert.ok(secretForms('\u2028&').includes(String.raw`\u2028\u0026`));
  assert.ok(secretForms('+`').includes(String.raw`\u002B\u0060`));
  assert.ok(secretForms(`!*'`).includes('%21%2A%27'));
});

test('U3 hex dumps are split as programs split them, and a short last line is no form', () => {
  const value = 'x'.repeat(39);
  const forms = secretForms(value);
  const bytes = (count: number) => Array<string>(count).fill('78');
  const line = bytes(16);
  const dump = `${bytes(8).join(' ')}  ${bytes(8).join(' ')}`;
  for (const form of [line.join(' '), dump, Array<string>(8).fill('7878').join(' ')])
    assert.ok(forms.includes(form), form);
  assert.ok(!forms.includes(bytes(7).join(' ')), 'seven bytes tell too little');
  assert.ok(secretForms('x'.repeat(24)).includes(bytes(8).join(' ')), 'eight do not');
  assert.ok(secretForms('x'.repeat(24)).includes(Array<string>(4).fill('7878').join(' ')));
  assert.equal(secretForms('x'.repeat(24)).filter((form) => form.endsWith(' ')).length, 0);
});

test('U3 base64 and base32 have the characters that the value alone decides, at each offset', () => {
  const value = 'secret-value!?>';
  const forms = new Set(secretForms(value));
  for (const [at, form] of ['c2VjcmV0LXZhbHVlIT8+', 'NlY3JldC12YWx1ZSE/P', 'zZWNyZXQtdmFsdWUhPz'].entries()) {
    const encoded = Buffer.from('#'.repeat(at) + value).toString('base64');
    assert.ok(encoded.includes(form) && forms.has(form), `${at} ${form}`);
    assert.ok(forms.has(form.replaceAll('+', '-').replaceAll('/', '_')), form);
  }
  const base32 = [...forms].filter((form) => /^[A-Z2-7]{20,24}$/.test(form));
  assert.ok(base32.includes('ONSWG4TFOQWXMYLMOVSSCPZ6'), base32.join(' '));
  assert.equal(base32.length, 5, 'one for each offset');
});

test('U3 eight characters are a secret, besides line breaks; spaces around it are none of it', () => {
  for (const [value, text, expected] of [
    ['12345678', '<12345678>', '<[redacted K0]>'],
    ['1234567', '<1234567>', '<1234567>'],
    ['1234\n567', '<1234567>', '<1234567>'],
    ['1234\n\r5678', '<12345678>', '<[redacted K0]>'],
    ['\t12345678\n', '<12345678>', '<[redacted K0]>'],
    [' 1234567 ', '< 1234567 >', '<[redacted K0]>'],
    [' 1234567 ', '<1234567>', '<1234567>'],
    ['12345678', '', ''],
    ['12345678', '1234567', '1234567'],
    ['12345678', '12345678', '[redacted K0]'],
    ['12345678', '1\n2345\r\n678\n', '[redacted K0]\n'],
    ['12345678', '12345678\n12345678', '[redacted K0]\n[redacted K0]'],
    ['12345678', '\n\n12345678', '\n\n[redacted K0]'],
    ['aaaaaaaa', 'aaaaaaaaa', '[redacted K0]'],
    ['aaaaaaaa', 'x'.repeat(700) + 'aaaaaaaa', `${'x'.repeat(700)}[redacted K0]`],
  ] as const)
    assert.equal(redactorOf(value)(text), expected, JSON.stringify([value, text]));
  assert.equal(
    createRedactor([
      { name: 'A', value: 'same-value' },
      { name: 'B', value: 'same-value' },
    ])('same-value'),
    '[redacted A]',
  );
  assert.equal(
    createRedactor([{ name: 'a"b\\c]d\u0007e', value: 'same-value' }])('same-value'),
    '[redacted abcde]',
  );
});

test('U3 secrets of any length are found next to one another, and the longest at a place goes whole', () => {
  const long = 'y'.repeat(300) + 'z'.repeat(300);
  for (const [values, text, expected] of [
    [[long, 'abcdefgh'], `abcdefgh${long}abcdefgh`, '[redacted K1][redacted K0][redacted K1]'],
    [
      ['abcdefgh', 'abcdefghi', 'abcdefghij'],
      'abcdefghi abcdefghij abcdefgh',
      '[redacted K1] [redacted K2] [redacted K0]',
    ],
    [['abcdefghij', 'cdefghijkl', 'ijklmnop'], 'abcdefghijklmnop.', '[redacted K0].'],
    [['abcdefghijkl', 'cdefghij'], 'abcdefghijkl', '[redacted K0]'],
    [['abcdefgh', 'ijklmnop'], 'abcdefghijklmnop', '[redacted K0][redacted K1]'],
    [['abcdefgh', 'zbcdefgh'], 'zbcdefgh abcdefgh', '[redacted K1] [redacted K0]'],
  ] as const)
    assert.equal(redactorOf(...values)(text), expected, text.slice(0, 40));
});

test('U3 of text in parts is held back what a secret may begin with, and no more', () => {
  const parts = () =>
    createRedaction([
      { name: 'K', value: 'abcdefgh-1' },
      { name: 'L', value: 'h-1-more-of-it' },
    ]).textInParts();
  for (const [pushed, out, rest] of [
    ['hello!', 'hello!', ''],
    ['hello a', 'hello ', 'a'],
    ['hello abcd', 'hello ', 'abcd'],
    ['hello abcx', 'hello abcx', ''],
    ['hello ab\ncd', 'hello ', 'ab\ncd'],
    ['hello abcd\n', 'hello ', 'abcd\n'],
    ['hello abcdefgh-1', 'hello ', '[redacted K]'],
    ['abcdefgh-1 and', '[redacted K] and', ''],
    ['abcdefgh-1-more-of-it.', '[redacted K].', ''],
    ['\n', '\n', ''],
    ['', '', ''],
  ] as const) {
    const one = parts();
    assert.deepEqual([one.push(pushed), one.end(), one.end()], [out, rest, ''], JSON.stringify(pushed));
  }
  const one = parts();
  assert.deepEqual(
    [one.push('abcd'), one.push('efgh-'), one.push('!'), one.push('?')],
    ['', '', 'abcdefgh-!', '?'],
  );
  const bytes = createRedaction([{ name: 'ü', value: 'äöüäöüäö' }]).bytesInParts();
  const all = Buffer.from('<äöüäöüäö>');
  assert.equal(
    Buffer.concat([bytes.push(all.subarray(0, 4)), bytes.push(all.subarray(4)), bytes.end()]).toString(),
    '<[redacted ü]>',
  );
});

test('U3 without secrets all passes as it is', () => {
  const none = createRedaction([{ name: 'PIN', value: '1234' }]);
  const value = { a: '1234' };
  assert.equal(none.text('1234'), '1234');
  assert.equal(none.constant(value), value);
  const [text, bytes] = [none.textInParts(), none.bytesInParts()];
  assert.deepEqual([text.push('1234'), text.end()], ['1234', '']);
  assert.deepEqual([bytes.push(Buffer.from('1234')), bytes.end()], [Buffer.from('1234'), Buffer.alloc(0)]);
});

test('S2 a constant is read once; what holds no text is the very same value', () => {
  const redaction = createRedaction([{ name: 'K', value: 'abcdefgh' }]);
  const value = { list: ['abcdefgh', 1, null, true, undefined], bytes: Buffer.from('abcdefgh') };
  const clean = redaction.constant(value);
  assert.deepEqual(clean.list, ['[redacted K]', 1, null, true, undefined]);
  assert.equal(clean.bytes, value.bytes);
  assert.equal(redaction.constant(value), clean);
  for (const same of [{ a: ['b', { c: 1 }] }, ['a'], [], {}, 'abc', 7, null, undefined, new Uint8Array(2)]) {
    assert.equal(redactTexts(same, redaction.text), same);
    assert.equal(redactDeep(same, redaction.text), same);
  }
});
