import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readAuthAnswer } from '../../src/accounts/read-auth-answer.ts';
import { processorMs } from '../support/machine-time.ts';

const url = 'https://localhost/callback?code=4/0AX-abc_9&state=xyz';
const found = { kind: 'code', code: '4/0AX-abc_9', url, state: 'xyz' };

test('C6 a callback address is read however it was pasted', () => {
  for (const text of [
    url,
    `  ${url}\n`,
    `<${url}>`,
    `(${url})`,
    `Here it is: ${url}. Thanks!`,
    `${url}\n${url}`,
    'https://localhost/callback?code=4/0AX-abc_9\n&state=xyz',
    `${'Look what the page said. '.repeat(400)}\n<${url}>`,
  ])
    assert.deepEqual(readAuthAnswer(text), found, text);
  const inFragment = readAuthAnswer('myapp://done#state=s&code=abc');
  assert.deepEqual(inFragment, {
    kind: 'code',
    code: 'abc',
    url: 'myapp://done#state=s&code=abc',
    state: 's',
  });
});

test('C6 a code alone is read where nobody would write such a word', () => {
  for (const text of ['4/0AX4XfWhAbC', '`4/0AX4XfWhAbC`', 'code: 4/0AX4XfWhAbC', 'my code is: 4/0AX4XfWhAbC'])
    assert.deepEqual(
      readAuthAnswer(text),
      { kind: 'code', code: '4/0AX4XfWhAbC', url: null, state: null },
      text,
    );
  for (const text of [
    'thanks',
    'Thanks a lot!',
    '/skills',
    '12345678',
    'tomorrow at 8',
    'tomorrow',
    'see-you-soon',
    'https://example.org/page?id=3',
    'see https://example.org/?state=open',
    '',
  ])
    assert.deepEqual(readAuthAnswer(text), { kind: 'none' }, text);
});

test('C7 what can not be used says why', () => {
  const problem = (text: string) => {
    const answer = readAuthAnswer(text);
    return answer.kind === 'unusable' ? answer.problem : answer.kind;
  };
  assert.equal(problem('https://a.b/?state=s&code='), 'capability_auth_code_missing');
  assert.equal(problem('https://a.b/?code=a&code=b&state=s'), 'capability_auth_callback_invalid');
  assert.equal(problem('https://a.b/?code=a%20b&state=s'), 'capability_auth_callback_invalid');
  assert.equal(problem('https://a.b/?code=abc1&state=s code: other22'), 'capability_auth_code_conflict');
  assert.equal(
    problem('https://a.b/?code=abc1&state=s https://a.b/?code=abc2&state=s'),
    'capability_auth_code_conflict',
  );
  assert.equal(problem('https://a.b/?error=access_denied&state=s'), 'refused');
});

test('S6 any text is read without a fault, and in no time', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.webUrl({ withQueryParameters: true, withFragments: true })),
      (text) => {
        readAuthAnswer(text);
      },
    ),
  );
  const hostile = [
    `https://${'a'.repeat(2_000)}?${'code=&'.repeat(300)}`,
    ' \n'.repeat(20_000),
    `${'a'.repeat(4_000)} `.repeat(10),
    'code '.repeat(8_000),
    'a://b?code=c '.repeat(3_000),
  ];
  const took = processorMs(() => hostile.forEach((text) => readAuthAnswer(`x${text}x`)));
  assert.ok(took < 5_000, `${took} ms`);
});
