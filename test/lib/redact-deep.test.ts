import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedactor, redactDeep, redactTexts } from '../../src/lib/redaction/redact.ts';

const secret = 'hunter2-hunter2';
const redact = (text: string): string =>
  createRedactor([
    { name: 'KEY', value: secret },
    { name: 'WORD', value: 'recursive' },
  ])(text);

test('S2 U3 secrets that somebody writes as keys are redacted at any depth, and what stood under them stays', () => {
  const input = { list: [{ [secret]: { [`is ${secret}`]: 1 } }], plain: 'yes' };
  assert.deepEqual(redactDeep(input, redact), {
    list: [{ '[redacted KEY]': { 'is [redacted KEY]': 1 } }],
    plain: 'yes',
  });
  const text = JSON.stringify(redactDeep(JSON.parse(`{"__proto__": {"${secret}": "${secret}"}}`), redact));
  assert.equal(text, '{"__proto__":{"[redacted KEY]":"[redacted KEY]"}}');
});

test('S2 keys that become one are numbered, what had the name already keeps it, and nothing is lost', () => {
  const hex = Buffer.from(secret).toString('hex');
  const base64 = Buffer.from(secret).toString('base64');
  const input = { [secret]: 1, '[redacted KEY] 2': 2, [hex]: 3, '[redacted KEY]': 4, [base64]: 5 };
  const clean = redactDeep(input, redact);
  assert.deepEqual(Object.entries(clean), [
    ['[redacted KEY] 3', 1],
    ['[redacted KEY] 2', 2],
    ['[redacted KEY] 4', 3],
    ['[redacted KEY]', 4],
    ['[redacted KEY] 5', 5],
  ]);
  assert.equal(redactDeep(clean, redact), clean, 'what is clean is the very same value');
});

test('S2 data of our own shape keeps its keys, whatever word is a secret', () => {
  const own = { recursive: `it is ${secret}` };
  assert.deepEqual(redactTexts(own, redact), { recursive: 'it is [redacted KEY]' });
  assert.deepEqual(redactDeep(own, redact), { '[redacted WORD]': 'it is [redacted KEY]' });
});
