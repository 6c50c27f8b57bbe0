import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { judgeTarget } from '../../src/lib/net/judge-target.ts';

const numRuns = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 500);
const allowance = {
  hosts: ['api.example.com', '*.example.org', '*', '10.0.0.1', 'localhost.'],
  ports: [80, 443],
  howToAllow: (host: string) => `Declare ${host}.`,
};

const piece = fc.oneof(
  fc.constantFrom(
    'api.example.com',
    'a.example.org',
    'example.org',
    'evil.test',
    '127.0.0.1',
    '[::1]',
    '0x7f',
    '*',
  ),
  fc.constantFrom(
    '.',
    ':',
    '@',
    '#',
    '?',
    '/',
    '\\',
    '%',
    '%2e',
    '80',
    '443',
    '8080',
    '\u3002',
    '\u00ad',
    ' ',
    '-',
  ),
  fc.string({ maxLength: 4 }),
);

test('T9 whatever is asked for: only declared names on ports 80 and 443, and a refusal is one line of ASCII', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 5 }), fc.constantFrom('http', 'https'), (pieces, scheme) => {
      const url = URL.parse(`${scheme}://${pieces.join('')}`);
      if (url === null) return;
      const target = judgeTarget(url, allowance);
      if (target.ok) {
        assert.ok(
          ['api.example.com', 'localhost'].includes(target.host) ||
            /^[a-z0-9_.-]+\.example\.org$/.test(target.host),
          target.host,
        );
        assert.equal(isIP(target.host), 0);
        assert.ok(target.port === 80 || target.port === 443);
      } else assert.match(`${target.reason}${target.message}`, /^[\x20-\x7e]+$/);
    }),
    { numRuns },
  );
});
