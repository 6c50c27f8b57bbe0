import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { importJWK, jwtVerify, type JWK } from 'jose';
import { hashJson } from '../../../src/lib/json/json-values.ts';
import { createSignedCalls } from '../../../src/features/capabilities/signed-call.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { OperatorError } from '../../../src/core/errors.ts';
import { quietLog } from '../../support/quiet-log.ts';

/** Gives back what it was sent, and the key to check it with. */
const echo = `
const { id, params } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const output = { params, jwk: process.env.SKILLET_PUBLIC_JWK };
const account = { account_ref: 'x', metadata: output };
console.log(JSON.stringify({ version: 1, id, result: 'operation' in params ? { output } : account }));
`;
const provider = { namespace: 'echo', command: [process.execPath, '-e', echo], timeoutSeconds: 20 };

type Echoed = Readonly<{ params: Readonly<Record<string, unknown>>; jwk: string }>;

/** The claims of the token that a call carried, its signature and audience checked. */
async function claimsIn({ params, jwk }: Echoed): Promise<Readonly<Record<string, unknown>>> {
  const key = await importJWK(JSON.parse(jwk) as JWK, 'EdDSA');
  const { payload } = await jwtVerify(String(params['context_token']), key, { audience: 'echo' });
  const { iat = 0, exp = 0, jti, ...claims } = payload;
  assert.equal(exp - iat, 60);
  assert.ok(jti);
  return claims;
}

const requester = {
  conversation: { channel: 'slack', chat: 'D1', thread: '17.5' },
  chatType: 'private',
  external: false,
  sender: 'slack:U1',
  kind: 'person',
} as const;
const subject = { requester, skill: 'notebook', run: 'r1' };
const ofEach = {
  ...{ iss: 'skillet', aud: 'echo', sub: 'slack:U1', chat: 'slack:D1', chat_type: 'private' },
  ...{ thread: '17.5', skill: 'notebook', run: 'r1', capability: 'echo.one' },
};

test('C3 a call carries a token of the host for exactly this call, and its params as they are', async (t) => {
  const signingSeed = randomBytes(32);
  const calls = createSignedCalls({
    key: async () => ({ signingSeed, seal: () => '', open: () => '', hash: () => '' }),
    env: {},
    clock: systemClock,
    log: quietLog(),
  });
  const input_data = { text: 'x', user: 'slack:U2' };
  const invoke = { capability_id: 'echo.one', operation: 'add', input_data, account_ref: 'home' };
  const added = await calls.call(provider, 'invoke', { ...invoke, idempotency_key: 'k' }, subject, t.signal);
  assert.ok(added.ok);
  const echoed = added.value.output as Echoed;
  const { context_token: _, ...params } = echoed.params;
  assert.deepEqual(params, { ...invoke, idempotency_key: 'k' });
  assert.deepEqual(await claimsIn(echoed), {
    ...ofEach,
    ...{ method: 'invoke', operation: 'add', account: 'home', input_hash: hashJson(input_data) },
  });
  const poll = { capability_id: 'echo.one', flow_state: { ref: 1 } };
  const polled = await calls.call(provider, 'auth_poll', poll, subject, t.signal);
  assert.ok(polled.ok && !('status' in polled.value));
  assert.deepEqual(await claimsIn(polled.value.metadata as Echoed), {
    ...ofEach,
    ...{ method: 'auth_poll', input_hash: hashJson(poll) },
  });
  const inGroup = {
    ...requester,
    conversation: { channel: 'slack', chat: 'C1' },
    chatType: 'group',
  } as const;
  const heard = await calls.call(provider, 'auth_poll', poll, { ...subject, requester: inGroup }, t.signal);
  assert.ok(heard.ok && !('status' in heard.value));
  const { thread: _thread, ...elsewhere } = ofEach;
  assert.deepEqual(await claimsIn(heard.value.metadata as Echoed), {
    ...elsewhere,
    ...{ chat: 'slack:C1', chat_type: 'group', method: 'auth_poll', input_hash: hashJson(poll) },
  });
});

test('C3 C6 without the key nothing is called, and the log says what the operator has to do', async (t) => {
  const log = quietLog();
  const key = async () => Promise.reject(new OperatorError('the key file is missing'));
  const calls = createSignedCalls({ key, env: {}, clock: systemClock, log });
  const outcome = await calls.definitions(provider, t.signal);
  assert.equal(outcome.ok || outcome.code, 'capability_backend_unavailable');
  assert.doesNotMatch(JSON.stringify(outcome), /key file/);
  assert.match(
    JSON.stringify(log.lines.map(({ fields }) => String(fields['err']))),
    /the key file is missing/,
  );
});
