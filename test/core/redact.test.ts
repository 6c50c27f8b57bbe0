import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRedactor } from '../../src/core/redact.ts';

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
  ];
  for (const form of forms) assert.match(redact(`Key: ${form}.`), /^Key: "?\[redacted KEY\]"?\.$/, form);
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
