import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import {
  bridgeEnvironment,
  createIdentityTokens,
  type CallIdentity,
} from '../../../src/features/capabilities/signed-call.ts';
import type { BridgeMethod, BridgeParams } from '../../../src/features/capabilities/bridge-contract.ts';
import { callBridge } from '../../../src/features/capabilities/call-bridge.ts';
import { hashJson } from '../../../src/lib/json/json-values.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createEndWithUs } from '../../../src/lib/processes/end-with-us.ts';
import { quietLog } from '../../support/quiet-log.ts';
import { openTallyProvider, tallyMissing } from '../../support/tally-provider.ts';

const skip = tallyMissing();

test('C2 a provider in Python, written from the document, serves the host itself', { skip }, async (t) => {
  const provider = await openTallyProvider(t);
  const tokens = createIdentityTokens(randomBytes(32), systemClock);
  const environment = bridgeEnvironment(process.env, tokens.publicJwk);
  const log = quietLog();
  const how = { environment, signal: t.signal, endWithUs: createEndWithUs(log), log };
  const capability_id = 'tally.counter';
  const call = async <Method extends Exclude<BridgeMethod, 'definitions'>>(
    method: Method,
    params: Omit<BridgeParams[Method], 'context_token'>,
    over: Partial<CallIdentity> = {},
  ) => {
    const { operation, input_data, account_ref } = params as Partial<BridgeParams['invoke']>;
    const context_token = await tokens.issue({
      ...{ namespace: 'tally', method, user: 'telegram:42', chat: 'telegram:42', chatType: 'private' },
      capability: capability_id,
      ...(operation === undefined ? {} : { operation }),
      ...(account_ref == null ? {} : { account: account_ref }),
      inputHash: hashJson(input_data ?? params),
      ...over,
    });
    return callBridge(provider, method, { ...params, context_token } as BridgeParams[Method], how);
  };
  const bump = (by: number, key: string | null, over: Partial<CallIdentity> = {}) => {
    const params = { capability_id, operation: 'bump', input_data: { by }, account_ref: 'counter' };
    return call('invoke', { ...params, idempotency_key: key }, over);
  };

  const told = await callBridge(provider, 'definitions', {}, how);
  assert.ok(told.ok, JSON.stringify(told));
  assert.deepEqual(Object.keys(told.value.definitions[0]?.operations ?? {}), ['about', 'value', 'bump']);
  const begun = await call('auth_begin', { capability_id, account_hint: null });
  assert.ok(begun.ok);
  const { flow_state } = begun.value;
  assert.deepEqual(await call('auth_poll', { capability_id, flow_state }, { user: 'telegram:7' }), {
    ...{ ok: false, code: 'capability_auth_flow_invalid', message: 'there is no such flow' },
  });
  const pending = await call('auth_poll', { capability_id, flow_state });
  assert.deepEqual(pending, { ok: true, value: { status: 'pending', retry_after_seconds: 1 } });
  assert.ok((await call('auth_poll', { capability_id, flow_state })).ok);
  assert.deepEqual(await bump(3, 'a'), { ok: true, value: { output: { value: 3 } } });
  assert.deepEqual(await bump(3, 'a'), { ok: true, value: { output: { value: 3 } } });
  assert.deepEqual(await bump(4, 'b'), { ok: true, value: { output: { value: 7 } } });
  for (const [answered, code] of [
    [await bump(3, null), 'capability_invalid_input'],
    [await bump(5, 'a'), 'capability_invalid_input'],
    [await bump(1, 'c', { user: 'telegram:7' }), 'capability_auth_required'],
    [await bump(1, 'c', { namespace: 'other' }), 'capability_access_denied'],
    [await bump(1, 'c', { inputHash: hashJson({ by: 2 }) }), 'capability_access_denied'],
  ] as const) {
    assert.ok(!answered.ok);
    assert.equal(answered.code, code, answered.message);
  }
});
