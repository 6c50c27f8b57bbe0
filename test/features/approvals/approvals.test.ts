import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeCall } from '../../../src/features/approvals/approval-question.ts';
import type { ApprovalRequest } from '../../../src/core/approval.ts';
import { createApprovals } from '../../../src/features/approvals/approvals.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { partOf } from '../../support/app-of.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { noDetails } from '../../support/no-details.ts';
import { quietLog } from '../../support/quiet-log.ts';
import { sayIn } from '../../../src/core/texts/say.ts';
import type { Audit } from '../../../src/audit/create-audit.ts';

const conversation = { channel: 'telegram', chat: '42' };
const call: ApprovalRequest = {
  tool: 'bash',
  input: { command: 'ls' },
  requester: { conversation, chatType: 'private', external: false, sender: 'telegram:42', kind: 'person' },
  transcript: 'telegram:42',
  toolUseId: 'toolu_1',
};

async function setUp(
  add: () => Promise<void> = async () => undefined,
  around: (store: Store) => Store = (store) => store,
) {
  const clock = createManualClock();
  const store = around(await openStore('sqlite::memory:', { clock }));
  const shown: string[] = [];
  const audit = partOf<Audit>({ record: async () => undefined, holds: async () => false });
  const approvals = createApprovals(
    {
      replies: partOf({
        async rows(place, key, markdown, more) {
          shown.push(key);
          return [{ key: `${key}#0`, conversation: place, part: { markdown, buttons: more?.buttons ?? [] } }];
        },
      }),
      details: noDetails,
      approvers: () => ['telegram:9'],
      isOwner: async (sender) => sender === 'telegram:1',
      rules: partOf({ add, covers: async () => false }),
      canAsk: ({ chat }) => chat !== 'nobody',
      stopping: new AbortController().signal,
    },
    { store, audit, clock, log: quietLog() },
  );
  return { clock, store, approvals, shown };
}

test('T8 unanswered for 5 minutes is denied, and a later yes is late', async () => {
  const { clock, store, approvals } = await setUp();
  const began = clock.now();
  const waiting = approvals.request(call, new AbortController().signal);
  assert.deepEqual(await clock.runUntil(waiting), { kind: 'expired' });
  assert.equal(clock.now() - began, 300_000);
  const late = await approvals.request(call, new AbortController().signal);
  assert.deepEqual(late, { kind: 'expired' });
  await store.close();
});

test('T8 who waits for an answer waits as long as they have patience, and no longer than their work', async () => {
  const { clock, store, approvals } = await setUp();
  const began = clock.now();
  const { signal } = new AbortController();
  const outcomes: unknown[] = [];
  void approvals.request(call, signal, { patienceMs: 7_000 }).then((outcome) => outcomes.push(outcome));
  while ((await store.pendingRequests.open(conversation)).length === 0) await new Promise(setImmediate);
  await clock.advance(6_999);
  assert.deepEqual(outcomes, []);
  await clock.advance(1);
  assert.deepEqual(outcomes, [{ kind: 'unanswered' }]);
  const work = new AbortController();
  const waiting = approvals.request(call, work.signal);
  work.abort(new Error('stopped'));
  await assert.rejects(clock.runUntil(waiting), /stopped/);
  assert.equal(clock.now() - began, 7_000);
  await store.stop({ items: [], pendingRequests: [{ conversation }] });
  assert.deepEqual(await approvals.request(call, signal), { kind: 'stopped' });
  await store.close();
});

test('T8 another input, or other files of the skill, is another question', async () => {
  const { store, approvals } = await setUp();
  const signal = new AbortController().signal;
  const differing: readonly Partial<ApprovalRequest>[] = [
    {},
    { input: { command: 'rm -r .' } },
    { tool: 'write_file' },
    { files: 'changed' },
    { reads: 'changed' },
    { definitionHash: 'changed' },
    { requester: { ...call.requester, sender: 'telegram:43' } },
    { transcript: 'telegram:42@later' },
    { toolUseId: 'toolu_9' },
  ];
  for (const change of differing)
    assert.deepEqual(await approvals.request({ ...call, ...change }, signal, { patienceMs: 0 }), {
      kind: 'unanswered',
    });
  assert.equal((await store.pendingRequests.open(conversation)).length, differing.length);
  await approvals.request({ ...call, because: 'else' }, signal, { patienceMs: 0 });
  assert.equal((await store.pendingRequests.open(conversation)).length, differing.length);
  await store.close();
});

test('T8 A12 an answer counts in the conversation of the question alone, and is anybody’s who may not give it nowhere', async () => {
  const { store, approvals } = await setUp();
  await approvals.request(call, new AbortController().signal, { patienceMs: 0 });
  const [{ id } = assert.fail()] = await store.pendingRequests.open(conversation);
  const { sender } = call.requester;
  const elsewhere = { channel: 'telegram', chat: '-7' };
  const from = (place: typeof conversation, by: string) =>
    approvals.answer(id, { sender: by, conversation: place }, 'approve');
  assert.deepEqual(await from(elsewhere, sender), { kind: 'unknown' });
  assert.equal((await from(conversation, 'telegram:666')).kind, 'not_yours');
  assert.equal((await store.pendingRequests.open(conversation)).length, 1);
  assert.equal((await from(conversation, sender)).kind, 'taken');
  assert.equal((await from(conversation, sender)).kind, 'late');
  await store.close();
});

test('T8 A12 a question waits for its person and approvers, in its conversation, while it is open', async () => {
  const { clock, store, approvals } = await setUp();
  await approvals.request(call, new AbortController().signal, { patienceMs: 0 });
  const [{ id } = assert.fail()] = await store.pendingRequests.open(conversation);
  const waits = (sender: string, place: typeof conversation = conversation) =>
    approvals.awaits(id, { sender, conversation: place });
  assert.equal(await waits('telegram:42'), true);
  assert.equal(await waits('telegram:9'), true, 'an approver');
  assert.equal(await waits('telegram:1'), false, 'an owner is no approver');
  assert.equal(await waits('telegram:666'), false);
  assert.equal(await waits('telegram:42', { channel: 'telegram', chat: '-7' }), false);
  assert.equal(await approvals.awaits('ZZZZZZZZ', { sender: 'telegram:42', conversation }), false);
  const other = { ...call, toolUseId: 'toolu_2' };
  await approvals.request(other, new AbortController().signal, { patienceMs: 0 });
  const second =
    (await store.pendingRequests.open(conversation)).find((request) => request.id !== id) ?? assert.fail();
  await approvals.answer(second.id, { sender: 'telegram:42', conversation }, 'deny');
  assert.equal(await approvals.awaits(second.id, { sender: 'telegram:42', conversation }), false, 'answered');
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
    const [{ id } = assert.fail()] = await store.pendingRequests.open(conversation);
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

test('T8 U14 a question of a run is no approval: a yes with its code approves nothing', async () => {
  const { store, approvals } = await setUp();
  const at = { askedAt: 1, expiresAt: Number.MAX_SAFE_INTEGER };
  const of = { requester: 'telegram:42', transcript: 't', toolUseId: 'u', payload: {} };
  await store.pendingRequests.add({ id: 'QUESTION', kind: 'question', conversation, ...of, ...at });
  const from = { sender: 'telegram:42', conversation };
  assert.equal(await approvals.awaits('QUESTION', from), false);
  assert.deepEqual(await approvals.answer('QUESTION', from, 'approve'), { kind: 'unknown' });
  assert.equal((await store.pendingRequests.find('QUESTION'))?.state, 'open');
  await store.close();
});

test('T8 Q5 a question is shown once, and not at all if it was stopped before', async () => {
  const signal = new AbortController().signal;
  const first = await setUp();
  await first.approvals.request(call, signal, { patienceMs: 0 });
  const [{ id } = assert.fail()] = await first.store.pendingRequests.open(conversation);
  await first.approvals.answer(id, { sender: 'telegram:42', conversation }, 'approve');
  const asked = first.shown.length;
  assert.equal((await first.approvals.request(call, signal)).kind, 'approved');
  assert.equal(first.shown.length, asked);
  await first.store.close();

  const { store, approvals } = await setUp(undefined, (real) => ({
    ...real,
    pendingRequests: {
      ...real.pendingRequests,
      async add(request) {
        await real.pendingRequests.add(request);
        await real.pendingRequests.answer(request.id, { by: 'telegram:9', value: 'deny', at: 1 });
      },
    },
  }));
  assert.deepEqual(await approvals.request(call, signal), { kind: 'denied' });
  assert.equal(await store.outbox.pending(conversation), 0);
  await store.close();
});

test('T8 where nobody can be asked nothing is asked', async () => {
  const { store, approvals } = await setUp();
  const requester = { ...call.requester, conversation: { channel: 'telegram', chat: 'nobody' } };
  const answer = await approvals.request({ ...call, requester }, new AbortController().signal, {
    patienceMs: 0,
  });
  assert.deepEqual(answer, { kind: 'nobody' });
  assert.deepEqual(await store.pendingRequests.open(requester.conversation), []);
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
  const [{ id } = assert.fail()] = await store.pendingRequests.open(conversation);
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
      const [{ id } = assert.fail()] = await store.pendingRequests.open(conversation);
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
