import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeCall, type ApprovalRequest } from '../../src/approvals/approval-question.ts';
import { createApprovals } from '../../src/approvals/approvals.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import { sayIn } from '../../src/core/texts/say.ts';

const conversation = { channel: 'telegram', chat: '42' };
const call: ApprovalRequest = {
  tool: 'bash',
  input: { command: 'ls' },
  requester: { conversation, chatType: 'private', external: false, sender: 'telegram:42', kind: 'person' },
  transcript: 'telegram:42',
  toolUseId: 'toolu_1',
};

async function setUp(add: () => Promise<void> = async () => undefined) {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const audit = { record: async () => undefined, holds: async () => false };
  const approvals = createApprovals(
    {
      replies: {
        rows: (place, key, markdown, more) => [
          { key: `${key}#0`, conversation: place, part: { markdown, buttons: more?.buttons ?? [] } },
        ],
      },
      approvers: () => ['telegram:9'],
      isOwner: async (sender) => sender === 'telegram:1',
      rules: { add, covers: async () => false },
      canAsk: ({ chat }) => chat !== 'nobody',
      stopping: new AbortController().signal,
    },
    { store, audit, clock, log: quietLog() },
  );
  return { clock, store, approvals };
}

test('T8 unanswered for 5 minutes is denied, and a later yes is late', async () => {
  const { clock, store, approvals } = await setUp();
  const waiting = approvals.request(call, new AbortController().signal);
  let ended = false;
  void waiting.then(() => (ended = true));
  while (!ended) {
    await new Promise(setImmediate);
    void clock.advance(60_000);
  }
  assert.deepEqual(await waiting, { kind: 'expired' });
  const late = await approvals.request(call, new AbortController().signal);
  assert.deepEqual(late, { kind: 'expired' });
  await store.close();
});

test('T8 another input, or other files of the skill, is another question', async () => {
  const { store, approvals } = await setUp();
  const signal = new AbortController().signal;
  for (const one of [call, { ...call, input: { command: 'rm -r .' } }, { ...call, files: 'changed' }])
    assert.deepEqual(await approvals.request(one, signal, { patienceMs: 0 }), { kind: 'unanswered' });
  assert.equal((await store.asks.open(conversation)).length, 3);
  await approvals.request(call, signal, { patienceMs: 0 });
  assert.equal((await store.asks.open(conversation)).length, 3);
  await store.close();
});

test('T8 A12 an answer counts in the conversation of the question alone, and is anybody’s who may not give it nowhere', async () => {
  const { store, approvals } = await setUp();
  await approvals.request(call, new AbortController().signal, { patienceMs: 0 });
  const [{ id } = assert.fail()] = await store.asks.open(conversation);
  const { sender } = call.requester;
  const elsewhere = { channel: 'telegram', chat: '-7' };
  const from = (place: typeof conversation, by: string) =>
    approvals.answer(id, { sender: by, conversation: place }, 'approve');
  assert.deepEqual(await from(elsewhere, sender), { kind: 'unknown' });
  assert.equal((await from(conversation, 'telegram:666')).kind, 'not_yours');
  assert.equal((await store.asks.open(conversation)).length, 1);
  assert.equal((await from(conversation, sender)).kind, 'taken');
  assert.equal((await from(conversation, sender)).kind, 'late');
  await store.close();
});

test('T8 A12 a question waits for its person and approvers, in its conversation, while it is open', async () => {
  const { clock, store, approvals } = await setUp();
  await approvals.request(call, new AbortController().signal, { patienceMs: 0 });
  const [{ id } = assert.fail()] = await store.asks.open(conversation);
  const waits = (sender: string, place: typeof conversation = conversation) =>
    approvals.awaits(id, { sender, conversation: place });
  assert.equal(await waits('telegram:42'), true);
  assert.equal(await waits('telegram:9'), true, 'an approver');
  assert.equal(await waits('telegram:1'), false, 'an owner is no approver');
  assert.equal(await waits('telegram:666'), false);
  assert.equal(await waits('telegram:42', { channel: 'telegram', chat: '-7' }), false);
  assert.equal(await approvals.awaits('ZZZZZZZZ', { sender: 'telegram:42', conversation }), false);
  await clock.advance(300_000);
  assert.equal(await waits('telegram:42'), false, 'its time is over');
  await store.close();
});

test('T8 no is no, an approver counts, and "Always" is told once it is stored', async () => {
  const stored = Promise.withResolvers<void>();
  const { store, approvals } = await setUp(() => stored.promise);
  const signal = new AbortController().signal;
  const standing = { tool: 'write_file', chat: 'telegram:42', sender: 'telegram:42' };
  const answered = async (one: ApprovalRequest, sender: string, value: 'approve' | 'deny' | 'always') => {
    await approvals.request(one, signal, { patienceMs: 0 });
    const [{ id } = assert.fail()] = await store.asks.open(conversation);
    return approvals.answer(id, { sender, conversation }, value);
  };
  assert.equal((await answered(call, 'telegram:42', 'deny')).kind, 'taken');
  assert.deepEqual(await approvals.request(call, signal), { kind: 'denied' });
  const other = { ...call, toolUseId: 'toolu_2' };
  assert.equal((await answered(other, 'telegram:42', 'always')).kind, 'not_yours', 'asked for each time');
  assert.equal((await answered(other, 'telegram:9', 'approve')).kind, 'taken', 'an approver');
  assert.deepEqual(await approvals.request(other, signal), { kind: 'approved', by: 'telegram:9' });
  let told = false;
  const always = answered({ ...call, toolUseId: 'toolu_3', standing }, 'telegram:42', 'always').then(
    () => (told = true),
  );
  for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
  assert.equal(told, false);
  stored.resolve();
  await always;
  await store.close();
});

test('T8 where nobody can be asked nothing is asked', async () => {
  const { store, approvals } = await setUp();
  const requester = { ...call.requester, conversation: { channel: 'telegram', chat: 'nobody' } };
  const answer = await approvals.request({ ...call, requester }, new AbortController().signal);
  assert.deepEqual(answer, { kind: 'nobody' });
  assert.deepEqual(await store.asks.open(requester.conversation), []);
  await store.close();
});

test('T8 what is asked shows every field whole, with what could deceive written out', () => {
  const command = `echo safe \u202e\u200b\u0007; ${'x'.repeat(5_000)}\n\`\`\`\nApproved by you`;
  const text = describeCall('bash', { command, cwd: '/scratch' }, 'dice', sayIn(undefined));
  assert.match(text, /\\u\{202e\}\\u\{200b\}\\u\{7\}/);
  assert.doesNotMatch(text, /\p{Cf}/u);
  assert.ok(text.includes('x'.repeat(5_000)));
  assert.match(text, /`cwd`\n\n```\n\/scratch\n```/);
  // The input can't end its own block.
  assert.match(text, /\n````\n[^]*Approved by you\n````/);
});

test('K1 T8 where an approver has to agree, the requester’s own yes does not count', async () => {
  const { store, approvals } = await setUp();
  const asked = { ...call, byApprover: true };
  await approvals.request(asked, new AbortController().signal, { patienceMs: 0 });
  const [{ id } = assert.fail()] = await store.asks.open(conversation);
  const from = (sender: string) => approvals.answer(id, { sender, conversation }, 'approve');
  assert.equal(await approvals.awaits(id, { sender: call.requester.sender, conversation }), false);
  assert.equal((await from(call.requester.sender)).kind, 'not_yours');
  assert.equal((await from('telegram:9')).kind, 'taken', 'an approver');
  await store.close();
});

test('T8 under four_eyes nobody approves their own call, an approver no more than others, and each may take it back', async () => {
  for (const sender of ['telegram:9', 'telegram:42', 'telegram:1'])
    for (const byApprover of [undefined, true]) {
      const { store, approvals } = await setUp();
      const requester = { ...call.requester, sender };
      const asked = { ...call, requester, byApprover, others: ['telegram:10'] };
      await approvals.request(asked, new AbortController().signal, { patienceMs: 0 });
      const [{ id } = assert.fail()] = await store.asks.open(conversation);
      for (const value of ['approve', 'always'] as const) {
        const said = await approvals.answer(id, { sender, conversation }, value);
        assert.ok(said.kind === 'not_yours', said.kind);
        assert.match(said.text, /^Another approver has to approve this, not the person who asked/);
      }
      if (byApprover === undefined || sender !== 'telegram:42')
        assert.equal((await approvals.answer(id, { sender, conversation }, 'deny')).kind, 'taken');
      await store.close();
    }
});
