import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { notesMain, openNotesProvider, type Data } from '../../support/notes-provider.ts';

const output = ({ result }: Readonly<{ result?: Data }>): Data => result?.['output'] as Data;

test('C9 the notebook lists, reads, searches, adds, edits and removes', async (t) => {
  const notes = await openNotesProvider(t);
  assert.equal((await notes.link('telegram:42', 'home'))?.['account_ref'], 'home');
  const added = output(await notes.invoke('add', { text: 'Buy 100% milk\nand bread' }, { key: 'k1' }));
  assert.equal(added['text'], 'Buy 100% milk\nand bread');
  const { id } = added;
  await notes.invoke('add', { text: 'Call the plumber' }, { key: 'k2' });
  const begins = (answer: Data) => (answer['notes'] as readonly Data[]).map((note) => note['begins']);
  assert.deepEqual(begins(output(await notes.invoke('list'))), ['Call the plumber', 'Buy 100% milk']);
  assert.deepEqual(begins(output(await notes.invoke('search', { query: '100% MILK' }))), ['Buy 100% milk']);
  assert.deepEqual(begins(output(await notes.invoke('search', { query: '100_' }))), []);
  await notes.invoke('edit', { id, text: 'Buy oat milk' }, { key: 'k3' });
  assert.equal(output(await notes.invoke('read', { id }))['text'], 'Buy oat milk');
  await notes.invoke('remove', { id }, { key: 'k4' });
  assert.equal((await notes.invoke('read', { id })).code, 'capability_invalid_input');
  assert.equal(output(await notes.invoke('list'))['total'], 1);
});

test('C6 an account of one person reads and changes nothing of another, under the same name too', async (t) => {
  const notes = await openNotesProvider(t);
  await notes.link('telegram:42', 'home');
  const { id } = output(await notes.invoke('add', { text: 'mine alone' }, { key: 'k' }));
  const other = { user: 'telegram:7' };
  assert.equal((await notes.invoke('list', {}, other)).code, 'capability_auth_required');
  await notes.link('telegram:7', 'home');
  assert.equal(output(await notes.invoke('list', {}, other))['total'], 0);
  assert.equal((await notes.invoke('read', { id }, other)).code, 'capability_invalid_input');
  const edit = await notes.invoke('edit', { id, text: 'taken' }, { ...other, key: 'x' });
  assert.equal(edit.code, 'capability_invalid_input');
  assert.equal(
    (await notes.invoke('remove', { id }, { ...other, key: 'y' })).code,
    'capability_invalid_input',
  );
  // The key of somebody else's call tells nothing of its outcome either.
  const sameKey = await notes.invoke('add', { text: 'mine alone' }, { ...other, key: 'k' });
  assert.notEqual(output(sameKey)['id'], id);
  assert.equal(output(await notes.invoke('read', { id }))['text'], 'mine alone');
});

test('C3 a token is believed once, and for exactly its call', async (t) => {
  const at = { now: Date.now() };
  const notes = await openNotesProvider(t, at);
  await notes.link('telegram:42', 'home');
  const params = {
    ...{ capability_id: 'notes.book', operation: 'list', input_data: { limit: 5 }, account_ref: 'home' },
  };
  const signed = { method: 'invoke', params, now: at.now } as const;
  const request = await notes.host.request(signed);
  assert.ok((await notes.send(request)).result);
  const refused = async (what: unknown, why: RegExp): Promise<void> => {
    const { code, message } = await notes.send(what);
    assert.deepEqual([code, why.test(message ?? '')], ['capability_access_denied', true], message);
  };
  await refused(request, /used before/);
  const claims = async (over: Data) => notes.host.request({ ...signed, claims: over });
  await refused(await claims({ aud: 'other' }), /"aud"/);
  await refused(await claims({ iss: 'somebody' }), /"iss"/);
  await refused(await claims({ jti: undefined }), /"jti"/);
  await refused(await claims({ operation: 'remove' }), /another operation/);
  await refused(await claims({ capability: 'notes.other' }), /another capability/);
  await refused(await claims({ account: 'work' }), /another account/);
  await refused(await claims({ account: undefined }), /another account/);
  await refused(await claims({ method: 'auth_begin' }), /another method/);
  await refused(await claims({ skill: undefined }), /no skill/);
  await refused(await claims({ chat_type: 'group' }), /private/);
  await refused(await claims({ exp: Math.floor(at.now / 1_000) + 3_600 }), /longer than a minute/);
  const old = await notes.host.request({ ...signed, now: at.now - 70_000 });
  await refused(old, /"exp"/);
  await refused(await notes.host.request({ ...signed, now: at.now + 10_000 }), /from the future/);
  assert.ok((await notes.send(await notes.host.request({ ...signed, now: at.now + 4_000 }))).result);
  // The input is changed after the token was made.
  const fresh = await notes.host.request(signed);
  const changed = { ...(fresh['params'] as Data), input_data: { limit: 6 } };
  await refused({ ...fresh, params: changed }, /another input_hash/);
  const { privateKey } = generateKeyPairSync('ed25519');
  await refused(await notes.host.request({ ...signed, key: privateKey }), /signature/);
  // The person is changed in the token itself.
  const altered = await notes.host.request(signed);
  const [head, body = '', signature] = String((altered['params'] as Data)['context_token']).split('.');
  const told = JSON.parse(Buffer.from(body, 'base64url').toString()) as Data;
  const forged = Buffer.from(JSON.stringify({ ...told, sub: 'telegram:7' })).toString('base64url');
  const token = [head, forged, signature].join('.');
  await refused(
    { ...altered, params: { ...(altered['params'] as Data), context_token: token } },
    /signature/,
  );
  const unsigned = [Buffer.from('{"alg":"none"}').toString('base64url'), body, ''].join('.');
  await refused(
    { ...altered, params: { ...(altered['params'] as Data), context_token: unsigned } },
    /not good/,
  );
});

test('C8 a mutating call under the same key is done once and answered the same', async (t) => {
  const notes = await openNotesProvider(t);
  await notes.link('telegram:42', 'home');
  const first = await notes.invoke('add', { text: 'once' }, { key: 'same' });
  assert.deepEqual(await notes.invoke('add', { text: 'once' }, { key: 'same' }), first);
  assert.equal(output(await notes.invoke('list'))['total'], 1);
  const other = await notes.invoke('add', { text: 'twice' }, { key: 'same' });
  assert.equal(other.code, 'capability_invalid_input');
  assert.equal((await notes.invoke('add', { text: 'no key' })).code, 'capability_invalid_input');
  const id = output(first)['id'];
  const removed = await notes.invoke('remove', { id }, { key: 'gone' });
  assert.deepEqual(await notes.invoke('remove', { id }, { key: 'gone' }), removed);
});

test('C2 as a process it answers one object and ends with 0, and with 1 where it can not answer', async (t) => {
  const notes = await openNotesProvider(t);
  await notes.link('telegram:42', 'home');
  const params = {
    capability_id: 'notes.book',
    operation: 'add',
    input_data: { text: 'x' },
    account_ref: 'home',
  };
  const request = await notes.host.request({
    method: 'invoke',
    params: { ...params, idempotency_key: 'k' },
  });
  const [added, again, garbage] = [
    await notes.process(JSON.stringify(request)),
    // The one-time id outlives the process.
    await notes.process(JSON.stringify(request)),
    await notes.process('{"version":1,'),
  ];
  assert.equal(added.code, 0, added.stderr);
  const answered = JSON.parse(added.stdout) as Data;
  assert.deepEqual([answered['version'], answered['id'], 'error' in answered], [1, request['id'], false]);
  assert.equal(((JSON.parse(again.stdout) as Data)['error'] as Data)['code'], 'capability_access_denied');
  assert.deepEqual([garbage.code, garbage.stdout], [1, '']);
  assert.match(garbage.stderr, /^main\.ts: the request is no JSON object.*\n$/);
  const kept = await stat(path.join(notes.folder, 'notes.db'));
  assert.equal(kept.mode & 0o777, 0o600);
});

test('C9 what is started wrongly says so in one line and ends with 2', () => {
  for (const [script, args, said] of [
    ['main.ts', ['--nope'], /^main\.ts: Unknown option '--nope'\n$/],
    ['main.ts', ['--flow', 'both'], /^main\.ts: --flow is code or device, not both\n$/],
    ['page.ts', ['--listen', '0.0.0.0:8765'], /^page\.ts: the page is for this computer alone.*\n$/],
  ] as const) {
    const file = path.join(path.dirname(notesMain), script);
    const { status, stderr } = spawnSync(process.execPath, [file, ...args], { encoding: 'utf8' });
    assert.deepEqual([status, said.test(stderr)], [2, true], stderr);
  }
});

test('C1 what it does not know is refused by the right code', async (t) => {
  const notes = await openNotesProvider(t);
  await notes.link('telegram:42', 'home');
  const plain = { version: 1, id: 'a', namespace: 'notes', method: 'definitions', params: {} };
  assert.ok((await notes.send(plain)).result);
  const code = async (request: unknown) => (await notes.send(request)).code;
  assert.equal(await code({ ...plain, version: 2 }), 'capability_invalid_input');
  assert.equal(await code({ ...plain, namespace: 'other' }), 'capability_invalid_input');
  assert.equal(await code({ ...plain, method: 'forget' }), 'capability_invalid_input');
  assert.equal((await notes.invoke('erase')).code, 'capability_not_found');
  assert.equal((await notes.invoke('toString')).code, 'capability_not_found');
  assert.equal((await notes.invoke('list', { limit: 0 })).code, 'capability_invalid_input');
  const params = { capability_id: 'notes.other', operation: 'list', input_data: {}, account_ref: null };
  assert.equal((await notes.call({ method: 'invoke', params })).code, 'capability_not_found');
});
