import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { openFlow } from '../../../src/features/capabilities/auth-flows.ts';
import { caller, capabilityStage, requester } from '../../support/capability-stage.ts';

type Stage = Awaited<ReturnType<typeof capabilityStage>>;

const begin = (stage: Stage, hint: string, capability = 'test.secret', who = caller()) =>
  stage.flows.begin(who, { capability, hint, call: 'call' }, stage.signal);
const codeOf = (outcome: Readonly<{ ok: true } | { ok: false; code: string }>) =>
  outcome.ok ? 'ok' : outcome.code;
const back = (state: string, more = 'code=good') => `https://back.example/?${more}&state=${state}`;
const minute = 60_000;

async function begun(t: TestContext, hint = 'work') {
  const stage = await capabilityStage(t);
  const flow = await begin(stage, hint);
  assert.ok(flow.ok);
  return { stage, flow: flow.value };
}

test('C6 a sign-in begins in private only, with state and PKCE, and a pending one is given again', async (t) => {
  const stage = await capabilityStage(t);
  const chat = { channel: 'telegram', chat: '-1' };
  const group = caller({ requester: requester({ chatType: 'group', conversation: chat }) });
  const refused = await begin(stage, 'work', 'test.anywhere', group);
  assert.match(refused.ok ? '' : refused.message, /in a direct message only/);
  for (const hint of ['no pkce', 'no state', 'clear', 'two lines', 'other state'])
    assert.equal(codeOf(await begin(stage, hint)), 'capability_invalid_output', hint);
  assert.equal(codeOf(await begin(stage, 'over')), 'capability_auth_flow_expired');
  // The provider is not asked a second time: it would have given no PKCE.
  const [first, again] = [await begin(stage, 'work'), await begin(stage, 'no pkce')];
  assert.ok(first.ok && again.ok);
  assert.equal(again.value.flow, first.value.flow);
  assert.equal(stage.told.filter((line) => line.includes('state-work')).length, 2);
  assert.doesNotMatch(JSON.stringify(first), /auth\.example|state-work/);
});

test('C6 a sign-in ends when its provider says so, and no later than after 30 minutes', async (t) => {
  for (const [hint, ms] of [
    ['short', minute],
    ['work', 30 * minute],
  ] as const) {
    const { stage } = await begun(t, hint);
    const [kept] = await stage.records.flows('telegram:42');
    const { plus } = stage.at;
    assert.ok(kept !== undefined && kept.expiresAt <= Date.now() + ms, hint);
    stage.at.plus = plus + ms - minute / 2;
    assert.equal((await stage.flows.list(caller())).length, 1, hint);
    stage.at.plus = plus + ms + 1;
    assert.deepEqual(await stage.flows.list(caller()), [], hint);
  }
});

test('C6 a skill sees sign-ins of the capabilities that it declares, and asks for no device before it is due', async (t) => {
  const { stage } = await begun(t, 'device');
  const other = caller({ declared: ['test.anywhere'] });
  assert.deepEqual(await stage.flows.list(other), []);
  assert.equal((await stage.flows.list(caller())).length, 1);
  const look = await stage.flows.look(caller(), { as: 'poll' }, stage.signal);
  assert.equal(look.ok && look.value.status, 'pending', 'it was asked for before it was due');
  stage.at.plus += minute;
  const due = await stage.flows.look(caller(), { as: 'poll' }, stage.signal);
  assert.equal(due.ok && due.value.status, 'waiting for confirmation');
});

test('C6 what the person pastes is taken, completed, shown for confirmation, and only then used', async (t) => {
  const { stage, flow } = await begun(t);
  const { signal } = stage;
  const look = (as: 'poll' | 'complete', of = caller()) => stage.flows.look(of, { as }, signal);
  assert.equal(codeOf(await look('complete')), 'capability_auth_code_missing');
  assert.equal(codeOf(await look('poll')), 'capability_invalid_input');
  assert.deepEqual(await stage.say('what is the weather?'), { kind: 'none' });
  const taken = await stage.say(`here: ${back('state-work')}`);
  assert.deepEqual(taken, { kind: 'submitted', flow: flow.flow, capability: 'test.secret' });
  assert.deepEqual(await look('complete'), { ok: true, value: { ...flow, status: 'completing' } });
  assert.equal((await stage.say(back('state-work'))).kind, 'refused');
  await stage.advanceDue();
  assert.ok(stage.told.includes(`confirm ${flow.flow} work@example.org`));
  assert.deepEqual(await stage.accounts.list({}), []);
  const { conversation } = requester();
  const answer = (sender: string, chat = conversation) =>
    stage.confirm(flow.flow, { sender, conversation: chat }, true);
  assert.equal((await answer('telegram:7')).outcome, 'not yours');
  assert.equal((await answer('telegram:42', { channel: 'telegram', chat: '-1' })).outcome, 'unknown');
  assert.equal((await answer('telegram:42')).outcome, 'linked');
  assert.equal((await answer('telegram:42')).outcome, 'late');
  const [account] = await stage.accounts.list({});
  assert.deepEqual(
    [account?.sender, account?.capability, account?.ref],
    ['telegram:42', 'test.secret', 'work@example.org'],
  );
  assert.equal((await stage.say(back('state-work'))).kind, 'refused', 'pasted once more it reaches no model');
});

test('C6 of two answers at one moment one is taken, and the code is kept no longer than it is needed', async (t) => {
  const { stage, flow } = await begun(t);
  const both = await Promise.all([stage.say(back('state-work')), stage.say(back('state-work'))]);
  assert.deepEqual(both.map(({ kind }) => kind).sort(), ['refused', 'submitted']);
  const answerOf = async () => {
    const kept = await stage.records.flow(flow.flow);
    return kept && openFlow(await stage.key(), kept)?.content.answer?.code;
  };
  assert.equal(await answerOf(), 'good');
  await stage.advanceDue();
  assert.equal(await answerOf(), undefined);
});

test('C6 where the process ends before the identity is shown, whoever looks next shows it, once', async (t) => {
  const { stage, flow } = await begun(t);
  await stage.say(back('state-work'));
  stage.at.dies = true;
  await assert.rejects(stage.advanceDue(), /the process ends/);
  stage.at.dies = false;
  for (let again = 0; again < 2; again++) {
    await stage.advanceDue();
    stage.at.plus += 5 * minute;
  }
  assert.deepEqual(stage.told.slice(1), [`confirm ${flow.flow} work@example.org`]);
});

test('C6 an identity that is not theirs is not used; one with a secret in it is refused', async (t) => {
  const { stage, flow } = await begun(t);
  await stage.say(back('state-work'));
  await stage.advanceDue();
  const from = { sender: 'telegram:42', conversation: requester().conversation };
  assert.equal((await stage.confirm(flow.flow, from, false)).outcome, 'dropped');
  assert.deepEqual(await stage.accounts.list({}), []);
  await stage.link('leaky');
  assert.deepEqual(await stage.accounts.list({}), []);
  assert.ok(stage.told.includes('capability_invalid_output again'));
});

test('C6 C7 what is not ended within 30 minutes is over: nothing is asked for any more, nothing can be confirmed', async (t) => {
  const { stage, flow } = await begun(t);
  await stage.say(back('state-work'));
  await stage.advanceDue();
  const device = await begin(stage, 'device pending', 'test.anywhere');
  assert.ok(device.ok);
  stage.at.plus = 29 * minute;
  await stage.advanceDue();
  assert.doesNotMatch(stage.told.join(), /expired/);
  await writeFile(path.join(stage.home, 'allowed'), '');
  stage.at.plus = 31 * minute;
  for (let again = 0; again < 2; again++) await stage.advanceDue();
  assert.deepEqual(
    stage.told.filter((line) => line.includes('expired')),
    ['capability_auth_flow_expired over'],
  );
  const from = { sender: 'telegram:42', conversation: requester().conversation };
  assert.equal((await stage.confirm(flow.flow, from, true)).outcome, 'late');
  assert.deepEqual(await stage.accounts.list({}), []);
});

test('C6 C7 an answer for another flow, of another person, in a group or too late is taken and refused', async (t) => {
  const { stage } = await begun(t);
  const say = async (text: string, more?: Parameters<typeof stage.say>[1]) => {
    const taken = await stage.say(text, more);
    return taken.kind === 'refused' ? taken.code : taken.kind;
  };
  const bob = { sender: { id: 'telegram:7', name: 'Bob', kind: 'person' } } as const;
  assert.equal(await say(back('state-work'), { chatType: 'group' }), 'public');
  assert.equal(await say('4/0AX4XfWhAbC', { chatType: 'group' }), 'public');
  assert.equal(await say(back('state-work'), { external: true }), 'public');
  assert.equal(await say(back('state-other')), 'capability_auth_state_mismatch');
  assert.equal(await say('https://back.example/?code=good'), 'capability_auth_state_mismatch');
  assert.equal(await say(back('state-work', 'code=')), 'capability_auth_code_missing');
  assert.equal(await say(back('state-work', 'code=a1&code=b2')), 'capability_auth_callback_invalid');
  assert.equal(await say(`${back('state-work')} code: another1`), 'capability_auth_code_conflict');
  assert.equal(
    await say(back('state-work'), bob),
    'capability_auth_state_mismatch',
    'who began nothing, too',
  );
  assert.equal(await say(back('state-work'), { ...bob, chatType: 'group' }), 'public');
  assert.equal(await say(back('state-nobodys'), bob), 'none');
  await begin(stage, 'bobs', 'test.secret', caller({ requester: requester({ sender: bob.sender.id }) }));
  assert.equal(await say(back('state-work'), bob), 'capability_auth_state_mismatch');
  const second = await begin(stage, 'second', 'test.anywhere');
  assert.ok(second.ok);
  assert.equal(await say('4/0AX4XfWhAbC'), 'capability_auth_flow_ambiguous');
  const looked = await stage.flows.look(caller(), { as: 'complete' }, stage.signal);
  assert.equal(codeOf(looked), 'capability_auth_flow_ambiguous');
  const foreign = await stage.flows.look(
    caller({ requester: requester({ sender: 'telegram:7' }) }),
    { as: 'poll', flow: second.value.flow },
    stage.signal,
  );
  assert.equal(codeOf(foreign), 'capability_auth_flow_invalid');
  assert.equal(await say(back('state-second', 'error=access_denied')), 'capability_auth_flow_denied');
  stage.at.plus = 31 * minute;
  assert.equal(await say(back('state-work')), 'capability_auth_flow_expired');
  assert.equal(await say('4/0AX4XfWhAbC'), 'none', 'nothing waits for a code');
  const over = await stage.flows.look(caller(), { as: 'poll' }, stage.signal);
  assert.equal(codeOf(over), 'capability_auth_flow_expired');
});

test('C6 C7 what a provider says of a code ends the flow, or leaves it open for another try', async (t) => {
  const { stage } = await begun(t);
  const provide = async (code: string) => {
    assert.equal((await stage.say(back('state-work', `code=bad-${code}`))).kind, 'submitted');
    await stage.advanceDue();
    return stage.told.at(-1);
  };
  assert.equal(await provide('capability_backend_unavailable'), 'capability_backend_unavailable again');
  assert.equal(await provide('capability_auth_code_conflict'), 'capability_auth_code_conflict again');
  assert.equal(await provide('capability_auth_flow_denied'), 'capability_auth_flow_denied over');
  assert.equal((await stage.say(back('state-work'))).kind, 'refused');
});

test('C6 a device flow is asked for by the host until the person has allowed it', async (t) => {
  const { stage, flow } = await begun(t, 'device pending');
  assert.equal(flow.kind, 'device_code');
  const poll = () => stage.flows.look(caller(), { as: 'poll' }, stage.signal);
  const early = await poll();
  assert.equal(early.ok && early.value.status, 'pending');
  stage.at.plus += 2_000;
  await stage.advanceDue();
  assert.equal(stage.told.length, 1, 'only the link');
  await writeFile(path.join(stage.home, 'allowed'), '');
  stage.at.plus += 2_000;
  const done = await poll();
  assert.equal(done.ok && done.value.status, 'waiting for confirmation');
  assert.match(stage.told.at(-1) ?? '', /^confirm/);
  const ended = await stage.records.endFlows({ sender: 'telegram:42' });
  assert.equal(ended, 1);
  assert.equal(codeOf(await poll()), 'capability_auth_flow_invalid');
});
