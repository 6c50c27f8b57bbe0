import assert from 'node:assert/strict';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openCapabilityKey } from '../../../src/accounts/capability-key.ts';
import { shownCall, type CapabilityRequest } from '../../../src/features/capabilities/invoke-capability.ts';
import { caller, capabilityStage, requester } from '../../support/capability-stage.ts';

const request = (more: Partial<CapabilityRequest> = {}): CapabilityRequest => ({
  capability: 'test.secret',
  operation: 'open',
  input: {},
  ...more,
});

test('C5 C7 every gate stops with its code, in order, and no provider is called behind one', async (t) => {
  const { invoke, signal } = await capabilityStage(t);
  const code = async (of: Partial<CapabilityRequest>, who = caller()) => {
    const prepared = await invoke.prepare(who, request(of), signal);
    return prepared.ok ? 'ok' : prepared.code;
  };
  const group = requester({ chatType: 'group', conversation: { channel: 'telegram', chat: '-1' } });
  const anonymous = caller({ requester: { ...group, sender: 'telegram:-1' } });
  assert.equal(await code({}, anonymous), 'capability_access_denied');
  assert.equal(await code({ capability: 'Test Secret' }), 'capability_invalid_input');
  assert.equal(await code({ capability: 'test.other' }), 'capability_access_denied');
  assert.equal(await code({ capability: 'gone.one' }), 'capability_not_found');
  assert.equal(await code({ capability: 'test.none' }), 'capability_not_found');
  assert.equal(
    await code({ operation: 'nonsense' }, caller({ requester: group })),
    'capability_access_denied',
  );
  assert.equal(await code({ operation: 'nonsense' }), 'capability_invalid_input');
  assert.equal(await code({ input: { text: 1 } }), 'capability_invalid_input');
  assert.equal(await code({ input: { other: 'x' } }), 'capability_invalid_input');
  assert.equal(await code({ operation: 'read' }), 'capability_auth_required');
  assert.equal(await code({}), 'ok');
  const ofGroups = { capability: 'test.groups' };
  assert.equal(await code(ofGroups), 'capability_access_denied');
  assert.equal(await code(ofGroups, caller({ requester: group })), 'ok');
  assert.equal(await code(ofGroups, anonymous), 'capability_access_denied', 'a chat is no person');
  const unknown = caller({ requester: { ...group, chatType: 'unknown' } });
  assert.equal(await code({ capability: 'test.anywhere' }, unknown), 'capability_access_denied');
  const external = caller({ requester: requester({ external: true }) });
  assert.equal(await code({}, external), 'capability_access_denied');
  assert.equal(await code({ capability: 'test.anywhere' }, external), 'ok');
});

test('C5 C7 an output that does not fit or holds a credential is not passed on; a provider’s own code is', async (t) => {
  const { invoke, signal } = await capabilityStage(t);
  const call = (of: Partial<CapabilityRequest>) =>
    invoke.invoke(caller(), request(of), { agreed: undefined, signal });
  const odd = await call({ operation: 'odd' });
  assert.equal(odd.ok || odd.code, 'capability_invalid_output');
  const leak = await call({ operation: 'leak' });
  assert.ok(!leak.ok);
  assert.equal(leak.code, 'capability_invalid_output');
  assert.match(leak.message, /inner\.0\.access_token/);
  assert.doesNotMatch(leak.message, /abc/);
  const code = 'capability_backend_unavailable';
  const down = await call({ operation: 'fail', input: { code } });
  assert.deepEqual([down.ok || down.code, !down.ok && down.message], [code, `refused: ${code}`]);
  const said = `the token ghp_${'a'.repeat(36)} is old`;
  const telling = await call({ operation: 'fail', input: { code, said } });
  assert.deepEqual(
    [telling.ok || telling.code, !telling.ok && telling.message],
    [code, 'the provider of test refused'],
  );
});

test('C6 accounts are of one user and capability; several need a name, and others see none', async (t) => {
  const stage = await capabilityStage(t);
  const read = (of: Partial<CapabilityRequest> = {}, who = caller()) =>
    stage.invoke.invoke(who, request({ operation: 'read', ...of }), {
      agreed: undefined,
      signal: stage.signal,
    });
  await stage.link('work');
  const one = await read();
  assert.deepEqual(one.ok && one.value.output, { account: 'work@example.org', input: {} });
  await stage.link('home');
  const several = await read();
  assert.ok(!several.ok);
  assert.equal(several.code, 'capability_account_ambiguous');
  assert.match(several.message, /work@example\.org, home@example\.org/);
  const named = await read({ account: 'home@example.org' });
  assert.ok(named.ok);
  const unknown = await read({ account: 'other@example.org' });
  assert.equal(unknown.ok || unknown.code, 'capability_auth_required');
  const bob = caller({
    requester: requester({ sender: 'telegram:7', conversation: { channel: 'telegram', chat: '7' } }),
  });
  const others = await read({ account: 'home@example.org' }, bob);
  assert.ok(!others.ok);
  assert.equal(others.code, 'capability_auth_required');
  assert.doesNotMatch(others.message, /example\.org/);
  const elsewhere = await read({ capability: 'test.anywhere' });
  assert.equal(elsewhere.ok || elsewhere.code, 'capability_auth_required');
  const kept = JSON.stringify(await stage.records.accounts({}));
  assert.doesNotMatch(kept, /example\.org|vault|Ann/);
});

test('C5 C8 a mutating call goes only as it was agreed to, and once in a run', async (t) => {
  const stage = await capabilityStage(t);
  await stage.link('work');
  const write = request({ operation: 'write', input: { text: 'hello' } });
  const { signal } = stage;
  const call = (agreed: unknown, who = caller(), of = write) =>
    stage.invoke.invoke(who, of, { agreed, signal });
  const shown = shownCall(write, 'work@example.org');
  for (const agreed of [undefined, { ...shown, account: 'other' }, { ...shown, input: { text: 'bye' } }]) {
    const refused = await call(agreed);
    assert.equal(refused.ok || refused.code, 'capability_mutation_not_confirmed');
  }
  const first = await call(shown);
  assert.deepEqual(first, { ok: true, value: { output: { written: true }, replayed: false } });
  const again = await call(undefined);
  assert.deepEqual(again, { ok: true, value: { output: { written: true }, replayed: true } });
  const prepared = await stage.invoke.prepare(caller(), write, signal);
  assert.equal(prepared.ok && prepared.value.done, true);
  const other = await call(shown, caller({ run: 'run-2' }));
  assert.equal(other.ok && other.value.replayed, false);
  const open = request({ capability: 'test.anywhere', operation: 'note' });
  for (const sender of ['telegram:42', 'telegram:7']) {
    const done = await call(shownCall(open, null), caller({ requester: requester({ sender }) }), open);
    assert.equal(done.ok && done.value.replayed, false, 'what one person had done tells another nothing');
  }
  const done = await readFile(path.join(stage.home, 'done.jsonl'), 'utf8');
  const keys = done
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { key: string }).key);
  assert.equal(new Set(keys).size, 4);
});

test('C8 another account and another input in one run are separate calls, and each is made', async (t) => {
  const stage = await capabilityStage(t);
  await stage.link('work');
  await stage.link('home');
  const made: unknown[] = [];
  for (const account of ['work@example.org', 'home@example.org'])
    for (const text of ['hello', 'bye']) {
      const write = request({ operation: 'write', input: { text }, account });
      const { invoke, signal } = stage;
      const done = await invoke.invoke(caller(), write, { agreed: shownCall(write, account), signal });
      assert.deepEqual(done, { ok: true, value: { output: { written: true }, replayed: false } });
      made.push({ input: { text }, account });
    }
  const done = await readFile(path.join(stage.home, 'done.jsonl'), 'utf8');
  const carriedOut = done
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { key: string; input: unknown; account: string });
  assert.deepEqual(
    carriedOut.map(({ input, account }) => ({ input, account })),
    made,
  );
});

test('C8 a mutating call whose outcome cannot be stored does not succeed, and is not made twice', async (t) => {
  const stage = await capabilityStage(t);
  const note = request({ capability: 'test.anywhere', operation: 'note', input: { text: 'hello' } });
  const call = () =>
    stage.invoke.invoke(caller(), note, { agreed: shownCall(note, null), signal: stage.signal });
  stage.at.full = true;
  await assert.rejects(call, /disk full/);
  stage.at.full = false;
  const again = await call();
  assert.deepEqual(again.ok && again.value.output, { written: true, again: true });
});

test('C6 L7 the key is made in a folder that nobody has made yet, as by a container that starts first', async (t) => {
  const { home } = await capabilityStage(t);
  const file = path.join(home, 'shared', 'data', 'capabilities.key');
  const stored: string[] = [];
  const records = {
    keyCheck: async () => stored[0],
    claimKey: async (check: string) => (stored[0] ??= check),
  };
  const sealed = (await openCapabilityKey(file, records)).seal('word', 'a');
  assert.equal((await openCapabilityKey(file, records)).open(sealed, 'a'), 'word');
  assert.equal((await stat(path.dirname(file))).mode & 0o777, 0o700);
});

test('C6 without the key that accounts were sealed with nothing is called, and it is said why', async (t) => {
  const stage = await capabilityStage(t);
  await stage.link('work');
  const file = path.join(stage.home, 'capabilities.key');
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const key = await stage.key();
  const sealed = key.seal({ a: 1 }, 'one');
  assert.deepEqual(key.open(sealed, 'one'), { a: 1 });
  assert.throws(() => key.open(sealed, 'other'));
  assert.throws(() => key.open(`${sealed.slice(0, -4)}AAAA`, 'one'));
  await assert.rejects(openCapabilityKey(path.join(stage.home, 'missing.key'), stage.records), /is missing/);
  const own = path.join(stage.home, 'other.key');
  await writeFile(own, Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 });
  await assert.rejects(openCapabilityKey(own, stage.records), /another key/);
  await writeFile(own, Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 });
  await chmod(own, 0o644);
  await assert.rejects(openCapabilityKey(own, stage.records), /read by others/);
});
