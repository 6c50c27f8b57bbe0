import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  capabilityTools,
  type CapabilityCallRecord,
} from '../../../src/features/capabilities/capability-tools.ts';
import { renderEnvelope, type Envelope } from '../../../src/core/envelope.ts';
import { caller, capabilityStage, requester } from '../../support/capability-stage.ts';
import { toolContext } from '../../support/tool-context.ts';

test('C4 C5 L6 S7 the tools of a run: gates before a question, the question for exactly what is sent, output marks, calls are recorded', async (t) => {
  const stage = await capabilityStage(t);
  const calls: CapabilityCallRecord[] = [];
  const { requester: _, ...of } = caller();
  const [list, call, auth] = capabilityTools(of, {
    ...stage,
    onCall: async (record) => void calls.push(record),
  });
  assert.ok(list && call?.assess && auth);
  const taint = caller().skill;
  const context = toolContext();
  const { assess } = call;
  const request = (operation: string, input = {}) => ({ capability: 'test.anywhere', operation, input });

  const listed = renderEnvelope(await list.run({}, context));
  assert.match(listed, /test\.secret[\s\S]*write[\s\S]*test\.none[\s\S]*capability_not_found/);
  const refused = await assess(request('note', { text: 1 }), context);
  assert.equal(refused.refused?.errors[0]?.code, 'capability_invalid_input');
  assert.deepEqual(await assess(request('open'), context), { risk: 'safe', taint, outward: true });
  const asked = await assess(request('note', { text: 'hi' }), context);
  assert.ok(asked.refused === undefined && asked.mustConfirm !== undefined);
  assert.equal(asked.risk, 'dangerous');
  const shown = { capability: 'test.anywhere', operation: 'note', account: 'none', input: { text: 'hi' } };
  assert.deepEqual(asked.mustConfirm, { shown, refusedAs: 'capability_mutation_not_confirmed' });
  assert.deepEqual([asked.taint, asked.outward], [taint, true]);
  // Names of accounts, and what a backend says of an error, are private too.
  assert.deepEqual(await list.assess?.({}, context), { taint });
  for (const action of ['list', 'poll', 'begin'] as const)
    assert.deepEqual(await auth.assess?.({ action }, context), { taint, outward: action === 'begin' });
  const read = await call.run(request('open', { text: 'x' }), context);
  assert.deepEqual(read.data, { output: { account: null, input: { text: 'x' } } });
  const forged = { ...request('open'), user: 'telegram:1', context_token: 'mine', idempotency_key: 'k' };
  assert.equal((await call.run(forged, context)).ok, true);
  const unasked = await call.run(request('note', { text: 'hi' }), context);
  assert.equal(unasked.errors[0]?.code, 'capability_mutation_not_confirmed');
  assert.equal((await call.run(request('note', { text: 'hi' }), { ...context, agreed: shown })).ok, true);
  assert.deepEqual(
    await assess(request('note', { text: 'hi' }), context),
    { risk: 'safe', taint, outward: false },
    'done already: nobody is asked',
  );
  const begun = renderEnvelope(
    await auth.run({ action: 'begin', capability: 'test.secret', account_hint: 'w' }, context),
  );
  assert.match(begun, /pending/);
  assert.doesNotMatch(begun, /auth\.example|state-w/);
  assert.match(renderEnvelope(await auth.run({ action: 'list' }, context)), /test\.secret/);
  assert.deepEqual(
    calls.map(({ operation, outcome }) => `${operation} ${outcome}`),
    [
      'note capability_invalid_input',
      'open ok',
      'open ok',
      'note capability_mutation_not_confirmed',
      'note ok',
      'auth begin ok',
    ],
  );
  assert.equal(
    stage.log.lines.some(({ level }) => level === 'error'),
    false,
  );
});

test('C4 C6 a person is told of their own accounts and sign-ins alone, and of those that the skill declares', async (t) => {
  const stage = await capabilityStage(t);
  const bob = requester({ sender: 'telegram:7', conversation: { channel: 'telegram', chat: '7' } });
  await stage.link('ann');
  await stage.link('elsewhere', caller(), 'test.anywhere');
  await stage.link('bob', caller({ requester: bob }));
  const other = { capability: 'test.anywhere', hint: 'more', call: 'c' };
  assert.ok((await stage.flows.begin(caller(), other, stage.signal)).ok);
  const { requester: _, ...of } = caller({ declared: ['test.secret'] });
  const [list, , auth] = capabilityTools(of, { ...stage, onCall: async () => undefined });
  assert.ok(list && auth);
  for (const [who, theirs] of [
    [requester(), 'ann@example.org'],
    [bob, 'bob@example.org'],
  ] as const) {
    const context = toolContext({ requester: who });
    const [offered, ...others] = (await list.run({}, context)).data as readonly { accounts: unknown }[];
    assert.deepEqual([offered?.accounts, others], [[theirs], []]);
    const linked: Envelope = await auth.run({ action: 'list' }, context);
    assert.deepEqual(linked.data, { accounts: [{ capability: 'test.secret', account: theirs }], flows: [] });
  }
});
