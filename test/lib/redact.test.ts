import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRedaction, createRedactor, secretForms } from '../../src/lib/redaction/redact.ts';

const runs = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);
const secret = 'hunter2-"äöü"/+ €';

test('U3 a secret becomes its name in every form that a process might print', () => {
  const redact = createRedactor([{ name: 'KEY', value: secret }]);
  const bytes = Buffer.from(secret);
  const forms = [
    secret,
    JSON.stringify(secret),
    encodeURIComponent(secret),
    encodeURIComponent(secret).toLowerCase(),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    String.raw`hunter2-\"\u00e4\u00f6\u00fc\"/+ \u20ac`,
    JSON.stringify(secret).replaceAll('/', String.raw`\/`),
    encodeURIComponent(secret).replaceAll('%20', '+'),
    encodeURIComponent(secret).replaceAll('%20', '+').toLowerCase(),
  ];
  for (const form of forms) assert.match(redact(`Key: ${form}.`), /^Key: "?\[redacted KEY\]"?\.$/, form);
});

test('U3 JSON that is meant for a web page hides no secret: what Go, Rails and .NET write', () => {
  const redact = createRedactor([{ name: 'KEY', value: `p&ss<w>"+'ö` }]);
  const forms = [
    String.raw`p\u0026ss\u003cw\u003e\"+'ö`,
    String.raw`p\u0026ss\u003Cw\u003E\u0022\u002B\u0027\u00F6`,
    String.raw`p\\u0026ss\\u003cw\\u003e\\\"+'ö`,
  ];
  for (const form of forms) assert.equal(redact(`{"k":"${form}"}`), '{"k":"[redacted KEY]"}', form);
});

test('U3 base64 of a longer text that holds the secret is redacted at any offset', () => {
  const value = 'a-long-enough-secret';
  const redact = createRedactor([{ name: 'KEY', value }]);
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, after) => {
      const encoded = Buffer.from(before + value + after).toString('base64');
      assert.match(redact(encoded), /\[redacted KEY\]/);
    }),
    { numRuns: runs },
  );
});

test('U3 values under 8 characters are left alone and the longest of two wins', () => {
  assert.equal(createRedactor([{ name: 'PIN', value: '1234567' }])('1234567'), '1234567');
  const redact = createRedactor([
    { name: 'SHORT', value: 'abcdefgh' },
    { name: 'LONG', value: 'abcdefgh-and-more' },
  ]);
  assert.equal(redact('abcdefgh-and-more abcdefgh'), '[redacted LONG] [redacted SHORT]');
});

const several = [
  { name: 'KEY', value: secret },
  { name: 'LONG', value: `${secret} and more` },
  { name: 'AFTER', value: '+ € is where this one begins' },
  { name: 'PEM', value: '-----BEGIN\nabcdefghijkl\nmnopqrst/uvw=\n-----END\n' },
];
/** Texts in which secrets stand in some form, whole, in pieces, behind one another and inside one another. */
const textWithSecrets = () =>
  fc
    .array(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 8 }),
        fc.constantFrom('\n', '\r\n', '[redacted ', ...several.flatMap(({ value }) => secretForms(value))),
        fc
          .tuple(fc.constantFrom(...several.flatMap(({ value }) => secretForms(value))), fc.nat(200))
          .map(([form, length]) => form.slice(0, length)),
      ),
      { maxLength: 12 },
    )
    .map((pieces) => pieces.join(''));

test('U3 text in parts, cut anywhere, comes out as it would whole', () => {
  const redaction = createRedaction(several);
  fc.assert(
    fc.property(textWithSecrets(), fc.array(fc.nat(40)), (text, lengths) => {
      const parts = redaction.textInParts();
      let out = '';
      let at = 0;
      for (const length of lengths) out += parts.push(text.slice(at, (at += length)));
      out += parts.push(text.slice(at));
      assert.equal(out + parts.end(), redaction.text(text));
    }),
    { numRuns: runs },
  );
});

test('U3 bytes in parts, cut inside a character, never let the value out and change nothing else', () => {
  const redaction = createRedaction(several);
  fc.assert(
    fc.property(textWithSecrets(), fc.array(fc.nat(40)), (text, lengths) => {
      const bytes = Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0x00, 0xc3])]);
      const parts = redaction.bytesInParts();
      const out: Buffer[] = [];
      let at = 0;
      for (const length of lengths) out.push(parts.push(bytes.subarray(at, (at += length))));
      out.push(parts.push(bytes.subarray(at)), parts.end());
      const expected = Buffer.concat([Buffer.from(redaction.text(text)), Buffer.from([0xff, 0x00, 0xc3])]);
      assert.deepEqual(Buffer.concat(out).toString('latin1'), expected.toString('latin1'));
    }),
    { numRuns: runs },
  );
});

test('U3 of text in parts only what may be the beginning of a secret is held back', () => {
  const parts = createRedaction(several).textInParts();
  assert.equal(parts.push('hello there'), 'hello there');
  assert.equal(parts.push('The key: hunter2-"ä'), 'The key: ');
  assert.equal(parts.push('öü is not it.'), 'hunter2-"äöü is not it.');
  assert.equal(parts.push('hunter2-"äöü"/+ €'), '');
  assert.equal(parts.end(), '[redacted KEY]');
});

test('U3 line breaks inside a secret or its encoded form do not hide it', () => {
  const redact = createRedactor(several);
  const lines = (text: string, width: number): string =>
    text.match(new RegExp(`.{1,${width}}`, 'gs'))!.join('\n');
  const encoded = Buffer.from(`user:${'x'.repeat(44)}${secret}${'y'.repeat(60)}`).toString('base64');
  assert.match(redact(lines(encoded, 76)), /^\w+\[redacted KEY\]\w/);
  assert.equal(redact(lines(Buffer.from(secret).toString('hex'), 6)), '[redacted KEY]');
  assert.equal(
    redact('one\n-----BEGIN\r\nabcdefghijkl\r\nmnopqrst/uvw=\r\n-----END\r\ntwo'),
    'one\n[redacted PEM]\r\ntwo',
  );
  assert.equal(redact('a\nb\r\nc'), 'a\nb\r\nc');
});

test('U3 secrets that overlap go together, and none of either is left', () => {
  const redact = createRedactor([
    { name: 'A', value: 'first-half-shared' },
    { name: 'B', value: 'shared-second-half' },
  ]);
  assert.equal(redact('<first-half-shared-second-half>'), '<[redacted A]>');
});

test('U3 what stands in JSON stays JSON, whatever a secret is called', () => {
  const redact = createRedactor([{ name: 'tools."my tool".key', value: secret }]);
  const line = JSON.stringify({ inner: JSON.stringify({ secret }) });
  const read = JSON.parse(redact(line)) as { inner: string };
  assert.deepEqual(JSON.parse(read.inner), { secret: '[redacted tools.my tool.key]' });
});

test('U3 hex with separators, as dumps have it, and base32 hide no secret', () => {
  const value = 'a-long-enough-secret-of-33-bytes!';
  const bytes = Buffer.from(value);
  const redact = createRedactor([{ name: 'KEY', value }]);
  const pairs = bytes.toString('hex').match(/../g) ?? [];
  for (const separator of [' ', ':', '-'])
    for (const form of [pairs.join(separator), pairs.join(separator).toUpperCase()])
      assert.equal(redact(`x ${form} y`), 'x [redacted KEY] y', form);
  const lines = (groups: (line: string[]) => string): string =>
    [pairs.slice(0, 16), pairs.slice(16, 32)].map((line) => `0000: ${groups(line)}  .....`).join('\n');
  const xxd = lines((line) => line.join('').replace(/(....)(?!$)/g, '$1 '));
  const hexdump = lines((line) => `${line.slice(0, 8).join(' ')}  ${line.slice(8).join(' ')}`);
  for (const dump of [xxd, hexdump])
    assert.equal(redact(dump), '0000: [redacted KEY]  .....\n0000: [redacted KEY]  .....', dump);
  for (let before = 0; before < 5; before++)
    assert.match(redact(base32('#'.repeat(before) + value)), /^[A-Z2-7]{0,8}\[redacted KEY\][A-Z2-7]?$/);
});

function base32(text: string): string {
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('');
}

test('U3 secrets that touch, lie in one another or are padded leave nothing of themselves', () => {
  const redact = (text: string, ...values: readonly string[]): string =>
    createRedactor(values.map((value, index) => ({ name: `K${index}`, value })))(text);
  assert.equal(redact('-abcdefghijklmno-', 'abcdefgh', 'hijklmno'), '-[redacted K0]-');
  assert.equal(redact('-outer-secret-0123-', 'outer-secret-0123', 'r-secret'), '-[redacted K0]-');
  assert.equal(redact('(padded-secret)', '  padded-secret  '), '([redacted K0])');
  // Six characters, however many lines they stand on.
  assert.equal(redact('abcdef', 'abc\n\ndef\n'), 'abcdef');
});
