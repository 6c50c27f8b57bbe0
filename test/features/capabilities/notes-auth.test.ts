import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openNotesProvider, type Data } from '../../support/notes-provider.ts';

const capability = { capability_id: 'notes.book' };
const begin = { method: 'auth_begin', params: { ...capability, account_hint: 'work' } } as const;
const requestIn = (result: Data | undefined): string =>
  new URL(String(result?.['auth_url'])).searchParams.get('request') ?? '';

test('C6 the authorization-code flow links what the person allowed, with state and PKCE', async (t) => {
  const notes = await openNotesProvider(t);
  const { result } = await notes.call(begin);
  assert.equal(result?.['flow_type'], 'authorization_code');
  const shown = await (await fetch(String(result['auth_url']))).text();
  const { searchParams } = new URL(String(result['auth_url']));
  assert.equal(searchParams.get('code_challenge_method'), 'S256');
  assert.equal(searchParams.get('state'), result['expected_callback_state']);
  const bent = String(result['auth_url']).replace(/state=[^&]*/, 'state=other');
  assert.equal((await fetch(bent)).status, 404);
  assert.match(shown, /<strong>work<\/strong> of <strong>telegram:42<\/strong>/);
  const callback = new URL(await notes.decide(requestIn(result), 'allow'));
  assert.equal(callback.searchParams.get('state'), result['expected_callback_state']);
  const flow_state = result['flow_state'];
  const complete = (over: Data, user?: string) =>
    notes.call({
      method: 'auth_complete',
      params: {
        ...{ ...capability, flow_state, authorization_code: callback.searchParams.get('code') },
        ...{ raw_callback_url: null, state: null, ...over },
      },
      ...(user === undefined ? {} : { user }),
    });
  assert.equal((await complete({}, 'telegram:7')).code, 'capability_auth_flow_invalid');
  assert.equal((await complete({ state: 'other' })).code, 'capability_auth_state_mismatch');
  const foreign = { raw_callback_url: `${notes.page}/callback?code=x&state=other` };
  assert.equal((await complete(foreign)).code, 'capability_auth_state_mismatch');
  assert.equal((await complete({ raw_callback_url: 'nonsense' })).code, 'capability_auth_callback_invalid');
  assert.equal((await complete({ authorization_code: null })).code, 'capability_auth_code_missing');
  const done = await complete({ raw_callback_url: callback.href });
  assert.deepEqual(done.result?.['account_ref'], 'work');
  assert.equal((await complete({})).code, 'capability_auth_flow_invalid');
  assert.doesNotMatch(JSON.stringify([result, done]), /verifier|secret|token/);
});

test('C6 a code is good once, and only with the verifier of who began', async (t) => {
  const notes = await openNotesProvider(t);
  const code = async (user: string): Promise<readonly [unknown, string]> => {
    const { result } = await notes.call({ ...begin, user });
    const callback = new URL(await notes.decide(requestIn(result), 'allow'));
    return [result?.['flow_state'], callback.searchParams.get('code') ?? ''];
  };
  const [, ofOther] = await code('telegram:7');
  const [mine] = await code('telegram:42');
  const params = { ...capability, flow_state: mine, authorization_code: ofOther, raw_callback_url: null };
  const stolen = await notes.call({ method: 'auth_complete', params: { ...params, state: null } });
  assert.equal(stolen.code, 'capability_auth_flow_invalid');
  assert.equal(notes.storage.all('SELECT * FROM accounts').length, 0);
});

test('C6 what the person did not allow is denied, and what is old has expired', async (t) => {
  const at = { now: Date.now() };
  const notes = await openNotesProvider(t, at);
  const { result } = await notes.call(begin);
  const callback = await notes.decide(requestIn(result), 'deny');
  const complete = (flow_state: unknown, raw_callback_url: string | null) => {
    const params = { ...capability, flow_state, authorization_code: 'x', raw_callback_url, state: null };
    return notes.call({ method: 'auth_complete', params });
  };
  const [, state] = /state=([^&]*)/.exec(callback) ?? [];
  assert.equal(state, result?.['expected_callback_state']);
  assert.equal((await complete(result?.['flow_state'], callback)).code, 'capability_auth_flow_denied');
  const later = await notes.call(begin);
  at.now += 11 * 60_000;
  assert.match(await notes.decide(requestIn(later.result), 'allow'), /too old/);
  assert.equal((await complete(later.result?.['flow_state'], null)).code, 'capability_auth_flow_expired');
});

test('C6 the device flow is polled until the person typed the code and allowed it', async (t) => {
  const at = { now: Date.now() };
  const notes = await openNotesProvider(t, at);
  const { result } = await notes.call(begin, 'device');
  assert.equal(result?.['flow_type'], 'device_code');
  assert.equal(result['auth_url'], `${notes.page}/device`);
  const poll = (user = 'telegram:42', flow_state = result['flow_state']) =>
    notes.call({ method: 'auth_poll', params: { ...capability, flow_state }, user });
  assert.deepEqual((await poll()).result, { status: 'pending', retry_after_seconds: 5 });
  assert.deepEqual((await poll()).result, { status: 'pending', retry_after_seconds: 10 });
  assert.equal((await poll('telegram:7')).code, 'capability_auth_flow_invalid');
  const typed = new URLSearchParams({
    user_code: String(result['user_code']).toLowerCase().replace('-', ' '),
  });
  const confirm = await (await fetch(`${notes.page}/device`, { method: 'POST', body: typed })).text();
  const [, request = ''] = /name="request" value="([^"]+)"/.exec(confirm) ?? [];
  assert.match(await notes.decide(request, 'allow'), /go back to the bot/);
  at.now += 5_000;
  assert.equal((await poll()).result?.['account_ref'], 'work');
  assert.equal((await poll()).code, 'capability_auth_flow_invalid');
  const denied = (await notes.call(begin, 'device')).result;
  const again = new URLSearchParams({ user_code: String(denied?.['user_code']) });
  const asked = await (await fetch(`${notes.page}/device`, { method: 'POST', body: again })).text();
  await notes.decide(/name="request" value="([^"]+)"/.exec(asked)?.[1] ?? '', 'deny');
  const end = await poll('telegram:42', denied?.['flow_state']);
  assert.equal(end.code, 'capability_auth_flow_denied');
});

test('C6 the page is for its own address and its own forms, and needs to run', async (t) => {
  const notes = await openNotesProvider(t);
  const { result } = await notes.call(begin);
  const body = new URLSearchParams({ request: requestIn(result), decision: 'allow' });
  const foreign = await fetch(`${notes.page}/decide`, {
    method: 'POST',
    body,
    headers: { origin: 'https://evil.example' },
  });
  assert.equal(foreign.status, 403);
  const json = {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: '{"user":"x","notebook":"y"}',
  };
  assert.equal((await fetch(`${notes.page}/device-authorizations`, json)).status, 404);
  const hint = { method: 'auth_begin', params: { ...capability, account_hint: '../x' } } as const;
  assert.equal((await notes.call(hint)).code, 'capability_invalid_input');
  const request = await notes.host.request(begin);
  const nobody = await notes.process(JSON.stringify(request), ['--page', 'http://127.0.0.1:1']);
  assert.match(nobody.stdout, /"capability_backend_unavailable".*start the page/);
});
