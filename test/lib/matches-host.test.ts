import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostOf, matchesHost } from '../../src/lib/net/judge-target.ts';

test('T9 a host name means itself, *. everything below it and not itself', () => {
  const patterns = ['api.example.com', '*.example.org'];
  for (const host of [
    'api.example.com',
    'API.Example.COM',
    'api.example.com.',
    'a.example.org',
    'a.b.example.org',
    'x_y.example.org',
  ])
    assert.equal(matchesHost(patterns, host), true, host);
  for (const host of [
    'example.com',
    'x.api.example.com',
    'api.example.com.evil.net',
    'evil-api.example.com',
    'example.org',
    'evilexample.org',
    '.example.org',
    'a..example.org',
    'example.org.evil.net',
    '',
  ])
    assert.equal(matchesHost(patterns, host), false, host);
});

test('T9 a bare * and patterns that are no host names mean nothing', () => {
  for (const pattern of [
    '*',
    '*.',
    '*.*',
    '**',
    '',
    '.',
    'a*.example.com',
    '*.*.example.com',
    'http://example.com',
    'example.com:80',
    '127.0.0.1',
    '*.0.0.1',
    '[::1]',
    '*.1',
  ])
    for (const host of ['example.com', 'a.example.com', '127.0.0.1', '1.0.0.1', '::1'])
      assert.equal(matchesHost([pattern], host), false, `${pattern} ${host}`);
});

test('T3 T9 an address is known however a URL spells it', () => {
  for (const [written, host] of [
    ['127.0.0.1', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['0x7f000001', '127.0.0.1'],
    ['0x7f.1', '127.0.0.1'],
    ['017700000001', '127.0.0.1'],
    ['0177.0.0.01', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['127.0.0.1.', '127.0.0.1'],
    ['１２７.0.0.1', '127.0.0.1'],
    ['127。0。0。1', '127.0.0.1'],
    ['%31%32%37.0.0.1', '127.0.0.1'],
    ['[::1]', '::1'],
    ['[::ffff:127.0.0.1]', '::ffff:7f00:1'],
    ['[0:0::0:1]', '::1'],
  ] as const)
    assert.deepEqual(hostOf(new URL(`http://${written}/`)), { host, isAddress: true }, written);
  assert.deepEqual(hostOf(new URL('http://Example.COM/')), { host: 'example.com', isAddress: false });
});

test('T9 a number in hex is no host name', () => {
  assert.equal(matchesHost(['0x7f000001'], '0x7f000001'), false);
});
