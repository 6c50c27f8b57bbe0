import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { importJWK, jwtVerify, type JWK } from 'jose';
import { canonicalJson, hashJson } from '../../../src/lib/json/json-values.ts';
import { createIdentityTokens, type CallIdentity } from '../../../src/features/capabilities/signed-call.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const identity: CallIdentity = {
  namespace: 'notes',
  method: 'invoke',
  user: 'telegram:42',
  chat: 'telegram:42',
  chatType: 'private',
  thread: '7',
  skill: 'notebook',
  run: 'abc',
  capability: 'notes.book',
  operation: 'add',
  account: 'me@example.org',
  inputHash: hashJson({ text: 'x' }),
};
const keyOf = (jwk: string) => importJWK(JSON.parse(jwk) as JWK, 'EdDSA');

test('C3 a token says whose call it is, for one namespace, for 60 seconds, under an id of its own', async () => {
  const { publicJwk, issue } = createIdentityTokens(randomBytes(32), systemClock);
  assert.equal('d' in (JSON.parse(publicJwk) as object), false);
  const token = await issue(identity);
  const { payload, protectedHeader } = await jwtVerify(token, await keyOf(publicJwk), {
    audience: 'notes',
    issuer: 'skillet',
    algorithms: ['EdDSA'],
  });
  assert.equal(protectedHeader.alg, 'EdDSA');
  const { iat = 0, exp = 0, jti, ...claims } = payload;
  assert.equal(exp - iat, 60);
  const other = await jwtVerify(await issue(identity), await keyOf(publicJwk));
  assert.notEqual(jti, other.payload.jti);
  assert.deepEqual(claims, {
    iss: 'skillet',
    aud: 'notes',
    sub: 'telegram:42',
    method: 'invoke',
    chat: 'telegram:42',
    chat_type: 'private',
    thread: '7',
    skill: 'notebook',
    run: 'abc',
    capability: 'notes.book',
    operation: 'add',
    account: 'me@example.org',
    input_hash: hashJson({ text: 'x' }),
  });
});

test('C3 a token of another audience, another key, an altered one and an old one do not hold', async () => {
  const clock = createManualClock(Date.now() - 61_000);
  const old = createIdentityTokens(randomBytes(32), clock);
  await assert.rejects(jwtVerify(await old.issue(identity), await keyOf(old.publicJwk)), /exp/);
  const { publicJwk, issue } = createIdentityTokens(randomBytes(32), systemClock);
  const key = await keyOf(publicJwk);
  const token = await issue(identity);
  await assert.rejects(jwtVerify(token, key, { audience: 'mail' }), /aud/);
  await assert.rejects(jwtVerify(token, await keyOf(old.publicJwk)), /signature/);
  const [head = '', body = '', signature = ''] = token.split('.');
  const claims = { ...(JSON.parse(Buffer.from(body, 'base64url').toString()) as object), sub: 'telegram:1' };
  const forged = Buffer.from(JSON.stringify(claims)).toString('base64url');
  await assert.rejects(jwtVerify(`${head}.${forged}.${signature}`, key), /signature/);
});

test('C3 the same seed makes the same key, so that processes that share it are one identity', () => {
  const seed = randomBytes(32);
  const [one, other] = [createIdentityTokens(seed, systemClock), createIdentityTokens(seed, systemClock)];
  assert.equal(one.publicJwk, other.publicJwk);
});

test('C3 an input has one hash, however its keys are ordered', () => {
  assert.equal(
    canonicalJson({ b: 1, a: [true, null, 'é"'], 10: {}, 9: 1e21 }),
    '{"10":{},"9":1e+21,"a":[true,null,"é\\""],"b":1}',
  );
  assert.equal(hashJson({ b: 1, a: { d: 1, c: 2 } }), hashJson({ a: { c: 2, d: 1 }, b: 1 }));
  assert.notEqual(hashJson({ a: 1 }), hashJson({ a: '1' }));
});
