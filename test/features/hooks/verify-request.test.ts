import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { verifyRequest } from '../../../src/features/hooks/verify-request.ts';
import { bearer, hookSecret, signed, signedByGithub } from '../../support/send-event.ts';

const now = 1_700_000_000_000;
const text = '{"a":1}';
const body = Buffer.from(text);
const verify = (
  headers: Readonly<Record<string, string>>,
  of: Partial<Parameters<typeof verifyRequest>[1]> = {},
) => verifyRequest({ headers, body }, { secret: hookSecret, signature: 'standard', ...of }, now);
const outcome = (...given: Parameters<typeof verify>): string => {
  const verified = verify(...given);
  return verified.ok ? 'ok' : verified.outcome;
};

test('N7 a signature holds for its body, id, time and secret, five minutes either way', () => {
  assert.deepEqual(verify(signed(text, 'msg_1', now)), { ok: true, delivery: 'msg_1' });
  assert.equal(outcome(signed(text, 'msg_1', now - 300_000)), 'ok');
  assert.equal(outcome(signed(text, 'msg_1', now + 300_000)), 'ok');
  assert.equal(outcome(signed(text, 'msg_1', now - 301_000)), 'stale');
  assert.equal(outcome(signed(text, 'msg_1', now + 301_000)), 'stale');
  assert.equal(outcome(signed(`${text} `, 'msg_1', now)), 'forged');
  assert.equal(outcome(signed(text, 'msg_1', now, 'another-secret-0123456789')), 'forged');
  for (const [header, value] of [
    ['webhook-id', 'msg_2'],
    ['webhook-timestamp', String(now / 1_000 + 1)],
    ['webhook-timestamp', 'soon'],
    ['webhook-timestamp', ''],
    ['webhook-signature', ''],
    ['webhook-signature', 'v1,'],
  ] as const)
    assert.equal(
      outcome({ ...signed(text, 'msg_1', now), [header]: value }),
      'forged',
      `${header}: ${value}`,
    );
});

test('N7 a delivery id has 1 to 200 characters', () => {
  const id = (length: number) => outcome({ ...bearer, 'webhook-id': 'x'.repeat(length) });
  assert.deepEqual([id(0), id(1), id(200), id(201)], ['forged', 'ok', 'ok', 'forged']);
  assert.equal(outcome(signed(text, '', now)), 'forged');
});

test('N7 while a secret is changed a sender may sign with both, and a whsec_ secret is base64', () => {
  const given = signed(text, 'msg_1', now);
  const both = { ...given, 'webhook-signature': `v1,bm8= v2,${'x'.repeat(9)} ${given['webhook-signature']}` };
  assert.equal(outcome(both), 'ok');
  const many = { ...given, 'webhook-signature': `${'v1,bm8= '.repeat(8)}${given['webhook-signature']}` };
  assert.equal(outcome(many), 'forged');
  const key = Buffer.from('0123456789abcdef0123456789abcdef');
  const secret = `whsec_${key.toString('base64')}`;
  const seconds = String(now / 1_000);
  const signature = createHmac('sha256', key).update(`msg_1.${seconds}.${text}`).digest('base64');
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${signature}`,
  };
  assert.equal(outcome(headers, { secret }), 'ok');
});

test('N7 the secret itself is taken as a bearer token; a wrong signature is not made good by it', () => {
  assert.deepEqual(verify(bearer), { ok: true, delivery: undefined });
  assert.deepEqual(verify({ ...bearer, 'webhook-id': 'n1' }), { ok: true, delivery: 'n1' });
  assert.equal(outcome({}), 'forged');
  assert.equal(outcome({ authorization: 'Bearer ' }), 'forged');
  assert.equal(outcome({ authorization: `Basic ${hookSecret}` }), 'forged');
  assert.equal(outcome({ authorization: `Bearer ${hookSecret.slice(0, -1)}` }), 'forged');
  assert.equal(outcome({ ...bearer, ...signed(`${text} `, 'msg_1', now) }), 'forged');
  assert.equal(outcome({ ...bearer, 'webhook-id': 'x'.repeat(201) }), 'forged');
});

test('N7 GitHub’s signature covers the body, which tells repeats; nothing else opens such a hook', () => {
  const github = { signature: 'github' } as const;
  const first = verify(signedByGithub(text), github);
  assert.ok(first.ok && first.delivery?.startsWith('body:'));
  assert.deepEqual(verify({ ...signedByGithub(text), 'x-github-delivery': 'other' }, github), first);
  assert.equal(outcome(signedByGithub(`${text} `), github), 'forged');
  assert.equal(outcome({ 'x-hub-signature-256': '' }, github), 'forged');
  assert.equal(outcome(bearer, github), 'forged');
  assert.equal(outcome(signed(text, 'msg_1', now), github), 'forged');
  assert.equal(outcome(signedByGithub(text)), 'forged');
});

test('N7 each refusal says what a sender corrects', () => {
  const why = (...given: Parameters<typeof verify>): string => {
    const verified = verify(...given);
    return verified.ok ? 'ok' : verified.why;
  };
  const given = signed(text, 'msg_1', now);
  const { 'webhook-id': id, ...withoutId } = given;
  const without = /needs webhook-id and webhook-timestamp \(Unix seconds\)/;
  const noSecret = /^send a webhook-signature, or authorization: Bearer SECRET$/;
  for (const [headers, expected] of [
    [{ ...bearer, 'webhook-id': '' }, /^webhook-id has 1 to 200 characters$/],
    [withoutId, without],
    [{ ...given, 'webhook-timestamp': '1700000000000' }, without],
    [{ ...given, 'webhook-timestamp': `${now / 1_000}.0` }, without],
    [{ ...given, 'webhook-timestamp': ` ${now / 1_000}` }, without],
    [{ ...given, 'webhook-timestamp': '' }, without],
    [{ ...given, 'webhook-timestamp': '1'.repeat(13) }, without],
    [{ ...given, 'webhook-timestamp': String(now / 1_000 + 1) }, /^the signature is another one$/],
    [signed(text, 'msg_1', now - 301_000), /^webhook-timestamp is more than 5 minutes off$/],
    [{}, noSecret],
    [{ authorization: 'Bearer ' }, noSecret],
    [{ authorization: `Bearer ${hookSecret} more` }, noSecret],
    [{ authorization: `Basic Bearer ${hookSecret}` }, noSecret],
    [{ authorization: 'Bearer another' }, /^the secret is another one$/],
    [{ authorization: `bearer   ${hookSecret}` }, /^ok$/],
  ] as const)
    assert.match(why(headers), expected, JSON.stringify(headers));
  assert.equal(id, 'msg_1');
  assert.match(why({}, { signature: 'github' }), /^X-Hub-Signature-256 is missing or another one$/);
});

test('N7 only all of a secret in whsec_ and base64 is read so; any other counts as it is written', () => {
  const by = (key: string | Buffer, secret: string): string => {
    const signature = createHmac('sha256', key)
      .update(`msg_1.${now / 1_000}.${text}`)
      .digest('base64');
    return outcome({ ...signed(text, 'msg_1', now), 'webhook-signature': `v1,${signature}` }, { secret });
  };
  const raw = Buffer.from('0123456789abcdef').toString('base64');
  for (const secret of [`xwhsec_${raw}`, `whsec_${raw}!`, `whsec_`, raw])
    assert.equal(by(secret, secret), 'ok', secret);
  assert.equal(by(Buffer.from(raw, 'base64'), `whsec_${raw}`), 'ok');
  assert.equal(by(`whsec_${raw}`, `whsec_${raw}`), 'forged');
});

test('N7 repeats of GitHub are told by the whole body, and a header that came twice counts as one text', () => {
  const delivery = (of: string): string => {
    const verified = verifyRequest(
      { headers: signedByGithub(of), body: Buffer.from(of) },
      { secret: hookSecret, signature: 'github' },
      now,
    );
    return verified.ok ? (verified.delivery ?? '') : '';
  };
  assert.match(delivery(text), /^body:[0-9a-f]{64}$/);
  assert.notEqual(delivery(text), delivery(`${text} `));
  const { 'webhook-signature': signature = '', ...others } = signed(text, 'msg_1', now);
  const headers = { ...others, 'webhook-signature': ['v1,bm8=', signature] as unknown as string };
  assert.equal(outcome(headers), 'ok');
});
