import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addressesIn, addressOf } from '../../src/core/message.ts';

test('S7 two addresses are one where the same is asked for: what is not sent does not count, everything else does', () => {
  const same = [
    'https://Example.org:443/a/../b?q=1#top',
    'HTTPS://example.org/b?q=1',
    ' https://example.org/b?q=1 ',
  ];
  for (const each of same) assert.equal(addressOf(each), 'https://example.org/b?q=1');
  const others = [
    'http://example.org/b?q=1',
    'https://example.org:8443/b?q=1',
    'https://example.org/B?q=1',
    'https://example.org/b',
    'https://example.org/b?',
    'https://example.org/b?q=1&',
    'https://example.org.evil.net/b?q=1',
    'https://www.example.org/b?q=1',
  ];
  for (const other of others) assert.notEqual(addressOf(other), 'https://example.org/b?q=1', other);
  for (const none of [
    'example.org',
    'ftp://example.org/',
    'https://me@example.org/',
    'https://:pw@example.org/',
    '',
  ])
    assert.equal(addressOf(none), undefined, none);
});

test('S7 addresses are found in what a person wrote, with and without what ends the sentence', () => {
  assert.deepEqual(addressesIn('See https://a.example/x. Or (http://b.example/y?z=1)!'), [
    'https://a.example/x.',
    'https://a.example/x',
    'http://b.example/y?z=1)!',
    'http://b.example/y?z=1',
  ]);
  assert.deepEqual(addressesIn('<https://c.example/|label> example.org'), ['https://c.example/|label']);
  assert.ok(addressesIn('https://a.example/ '.repeat(10_000)).length <= 100);
});

test('S7 nothing is found that is not written there', () => {
  fc.assert(
    fc.property(fc.string(), fc.webUrl({ withQueryParameters: true }), fc.string(), (before, url, after) => {
      const found = addressesIn(`${before} ${url} ${after}`);
      assert.ok(found.includes(new URL(url).href), url);
      for (const each of found) assert.equal(addressOf(each), each);
    }),
    { numRuns: Number(process.env['SKILLET_FUZZ_RUNS'] ?? 30) },
  );
});
