import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostOf, judgeTarget, matchesHost, readTarget } from '../../src/lib/net/judge-target.ts';

const allowance = {
  hosts: [
    'api.example.com',
    '*.example.org',
    'db.example.com:5432',
    'db.example.com:80',
    '10.0.0.7',
    '[fd00::7]:8443',
  ],
  ports: [80, 443],
  howToAllow: (host: string) => `Declare ${host}.`,
};
const judge = (url: string, mayReach?: (address: string, host: string) => boolean) =>
  judgeTarget(new URL(url), { ...allowance, mayReach });
const reached = (...given: Parameters<typeof judge>): string => {
  const target = judge(...given);
  return target.ok ? `${target.host} ${target.port}` : `${target.status} ${target.reason}`;
};

test('T9 declared hosts are reached on their ports: those declared, otherwise those of web servers', () => {
  for (const [url, expected] of [
    ['http://api.example.com/x', 'api.example.com 80'],
    ['https://api.example.com', 'api.example.com 443'],
    ['https://api.example.com:80', 'api.example.com 80'],
    ['https://API.example.com.', 'api.example.com 443'],
    ['https://api.example.com:8443', '403 port 8443 is refused'],
    ['https://a.b.example.org', 'a.b.example.org 443'],
    ['https://example.org', '403 example.org is not declared'],
    ['http://db.example.com:5432', 'db.example.com 5432'],
    ['http://db.example.com', 'db.example.com 80'],
    ['https://db.example.com', '403 port 443 is refused'],
    [
      `https://${'x'.repeat(50)}.${'y'.repeat(60)}.test`,
      `403 ${'x'.repeat(50)}.${'y'.repeat(49)} is not declared`,
    ],
  ] as const)
    assert.equal(reached(url), expected, url);
});

test('T9 an address is reached only if it may be at all and just that one is declared', () => {
  const all = () => true;
  const refused = '403 addresses are refused, use the host name';
  for (const [url, mayReach, expected] of [
    ['http://10.0.0.7', all, '10.0.0.7 80'],
    ['http://0xa000007', all, '10.0.0.7 80'],
    ['http://10.0.0.7', undefined, refused],
    ['http://10.0.0.7', () => false, refused],
    ['http://10.0.0.8', all, refused],
    ['http://[fd00::7]:8443', all, 'fd00::7 8443'],
    ['http://[fd00:0::7]', all, '403 port 80 is refused'],
    ['http://[fd00::8]:8443', all, refused],
    ['http://[fd00::7]:8443', undefined, refused],
  ] as const)
    assert.equal(reached(url, mayReach), expected, url);
  judge('http://[fd00::7]', (...asked) => (assert.deepEqual(asked, ['fd00::7', 'fd00::7']), true));
  assert.equal(
    reached('https://api.example.com', () => false),
    'api.example.com 443',
    'a name is judged by others',
  );
});

test('T9 who is refused reads what to do, for the host or for its port', () => {
  const message = (url: string) => {
    const target = judge(url);
    return target.ok ? '' : target.message;
  };
  assert.equal(message('http://evil.test'), 'evil.test is not declared. Declare evil.test.');
  assert.equal(
    message('http://db.example.com:1'),
    'db.example.com can be reached on the ports 5432 and 80, not on 1. Declare db.example.com:1.',
  );
  assert.match(
    message('http://127.1'),
    /only declared host names can be reached\. Use the name of the host\.$/,
  );
});

test('T9 a target is written as a host, or with a port; an IPv6 address in brackets if it has one', () => {
  for (const [written, host, port] of [
    ['a.example', 'a.example', undefined],
    ['a.example:8080', 'a.example', 8080],
    ['[fd00::7]:443', 'fd00::7', 443],
    ['[fd00::7]', 'fd00::7', undefined],
    ['fd00::7', 'fd00::7', undefined],
    ['a.example:123456', 'a.example:123456', undefined],
    ['a.example:80x', 'a.example:80x', undefined],
    ['x[fd00::7]:443', 'x[fd00::7]:443', undefined],
  ] as const)
    assert.deepEqual(readTarget(written), { host, port }, written);
});

test('T9 a pattern names one host, or all below one; names that programs read as addresses match nothing', () => {
  const label = 'a'.repeat(63);
  const longest = `${label}.${label}.${label}.${'a'.repeat(61)}`;
  for (const [pattern, host, isMatch] of [
    ['a.example', 'A.Example.', true],
    ['A.Example.', 'a.example', true],
    ['*.example', 'a.example', true],
    ['*.example', 'a.b.example', true],
    ['*.example', 'example', false],
    ['*.example', '.example', false],
    ['*.example', 'aexample', false],
    ['*', 'a.example', false],
    ['*.', 'a.example', false],
    ['*.*.example', 'a.b.example', false],
    ['a.*.example', 'a.b.example', false],
    ['_dmarc.a_b.example', '_dmarc.a_b.example', true],
    ['a-b.x--y.example', 'a-b.x--y.example', true],
    ['a-.example', 'a-.example', false],
    ['-a.example', '-a.example', false],
    ['a.exam_ple', 'a.exam_ple', false],
    ['example-', 'example-', false],
    ['x', 'x', true],
    ['1a2', '1a2', true],
    ['a.12-b', 'a.12-b', true],
    ['1.2.3', '1.2.3', false],
    ['*.3', '1.2.3', false],
    ['a.0x7f', 'a.0x7f', false],
    ['0x7f', '0x7f', false],
    ['0x', '0x', false],
    ['0x7f.example', '0x7f.example', true],
    ['a.0x7g', 'a.0x7g', true],
    ['a.10x7f', 'a.10x7f', true],
    [`${label}.example`, `${label}.example`, true],
    [`${label}a.example`, `${label}a.example`, false],
    [`a.${label}`, `a.${label}`, true],
    [`a.${label}a`, `a.${label}a`, false],
    [longest, longest, true],
    [`${longest}a`, `${longest}a`, false],
    ['a..example', 'a..example', false],
    ['a b.example', 'a b.example', false],
  ] as const)
    assert.equal(matchesHost([pattern], host), isMatch, `${pattern} ${host}`);
  assert.equal(matchesHost(['x.example', 'a.example'], 'a.example'), true);
  assert.equal(matchesHost([], 'a.example'), false);
});

test('T9 the host of a URL has no brackets, and an address is one in any spelling', () => {
  for (const [url, host, isAddress] of [
    ['http://[::1]:80', '::1', true],
    ['http://2130706433', '127.0.0.1', true],
    ['http://0x7f.1', '127.0.0.1', true],
    ['http://a.example', 'a.example', false],
    ['foo://x[y]', 'x[y]', false],
  ] as const) {
    const parsed = URL.parse(url);
    if (parsed !== null) assert.deepEqual(hostOf(parsed), { host, isAddress }, url);
  }
});
