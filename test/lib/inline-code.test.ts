import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inlineCode } from '../../src/lib/text/text.ts';

test('A10 a name is one line of code that no character of it can end', () => {
  assert.equal(inlineCode('Ann'), '`Ann`');
  assert.equal(inlineCode('[x](https://evil.example) **b**'), '`[x](https://evil.example) **b**`');
  assert.equal(inlineCode('a`b``\n# c\u200b\u202ed'), '`a b # c d`');
  assert.equal(inlineCode(' ` '), '`?`');
  const long = inlineCode('😀'.repeat(100));
  assert.ok(long.length <= 62 && !/[\ud800-\udbff](?![\udc00-\udfff])/.test(long));
});
