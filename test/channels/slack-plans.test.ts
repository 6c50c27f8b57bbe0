import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { ChatStatus } from '../../src/core/channel.ts';
import { endedPlan, type Plan, type WorkStep } from '../../src/core/plan.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { keptPlaceholder } from '../support/kept-placeholder.ts';
import { askedInAgentView, type AgentViewOptions } from '../support/asked-in-agent-view.ts';

async function asked(t: TestContext, options?: AgentViewOptions) {
  const set = await askedInAgentView(t, options);
  const { channel, place, own } = set;
  const work = keptPlaceholder({ asked: place.thread });
  const show = (status: ChatStatus | undefined) => channel.status(place, status, work);
  const states = () => own().map(({ plan }) => plan?.tasks.map(({ id, status }) => `${id} ${status}`).join());
  const untilStates = (...wanted: readonly string[]) =>
    t.waitFor(() => assert.deepEqual(states(), wanted), { timeout: 30_000 });
  return { ...set, work, show, states, untilStates };
}

const steps = (states: string): readonly WorkStep[] =>
  states.split(' ').map((one, index) => {
    const id = 'abcdef'.charAt(index);
    return { id, title: `Step ${id}`, doing: 'stepping', state: one as WorkStep['state'] };
  });
const planOf = (states: string): Plan => ({ title: 'Stepping', ended: 'Steps: 2', steps: steps(states) });
const line = (states: string): ChatStatus => ({ kind: 'line', text: 'stepping', plan: planOf(states) });

test('U18 steps and words are one stream, which keeps words that were no answer, and ends as a plan', async (t) => {
  const { channel, place, work, own, show, untilStates, writes } = await asked(t);
  await show(line('working'));
  await untilStates('a in_progress');
  await show({ kind: 'words', markdown: 'Let me look', plan: planOf('done') });
  await untilStates('a complete');
  await show(line('done working'));
  await untilStates('a complete,b in_progress');
  await show({ kind: 'words', markdown: 'It is', plan: planOf('done done') });
  await t.waitFor(() => assert.equal(own()[0]?.text, 'Let me look\n\nIt is'));
  await show(undefined);
  const receipt = await work.first;
  assert.deepEqual(receipt, { id: own()[0]?.ts, silent: true, plan: planOf('working') });
  await channel.edit(place, receipt, { markdown: '', plan: endedPlan(planOf('done waiting')) });
  const [message, ...more] = own();
  assert.deepEqual(more, []);
  assert.equal(message?.text, 'Steps: 2\n✓ Step a\n✗ Step b');
  assert.deepEqual(
    message.plan?.tasks.map(({ status }) => status),
    ['complete', 'error'],
  );
  assert.deepEqual(writes(), [
    'startStream',
    'appendStream',
    'appendStream',
    'appendStream',
    'stopStream',
    'update',
  ]);
});

test('U18 when Slack has ended the stream, the plan goes on as a block of the same message', async (t) => {
  const now = { ms: Date.now() };
  const { own, show, untilStates, writes } = await asked(t, { server: { now: () => now.ms } });
  await show(line('working'));
  await untilStates('a in_progress');
  now.ms += 5 * 60_000 + 1;
  await show(line('done working'));
  await untilStates('a complete,b in_progress');
  await show({ kind: 'words', markdown: 'It **is**', plan: planOf('done done') });
  await untilStates('a complete,b complete');
  assert.equal(own()[0]?.text, 'Stepping\n✓ Step a\n✓ Step b\n\nIt *is*');
  await show(undefined);
  assert.deepEqual(writes(), [
    'startStream',
    'appendStream message_not_in_streaming_state',
    'update',
    'update',
  ]);
});

for (const error of ['invalid_chunks', 'ratelimited'])
  test(`U18 a stream that is refused (${error}) gives way to a plan that is edited`, async (t) => {
    const { slack, show, untilStates, writes } = await asked(t);
    const refusal =
      error === 'ratelimited'
        ? ({ kind: 'ratelimited', retryAfter: 60 } as const)
        : ({ kind: 'error', error } as const);
    slack.faults.next('chat.startStream', refusal);
    await show(line('working'));
    await untilStates('a in_progress');
    await show(line('done'));
    await untilStates('a complete');
    await show(undefined);
    assert.deepEqual(writes(), [`startStream ${error}`, 'postMessage', 'update']);
  });

test('U18 what Slack limits is shown after the limit, and nothing is added twice', async (t) => {
  const { slack, show, untilStates, writes } = await asked(t);
  await show(line('working'));
  await untilStates('a in_progress');
  slack.faults.next('chat.appendStream', { kind: 'ratelimited', retryAfter: 1 });
  await show(line('done working'));
  await untilStates('a complete,b in_progress');
  await show(undefined);
  assert.deepEqual(writes(), ['startStream', 'appendStream ratelimited', 'appendStream', 'stopStream']);
});

test('U18 a workspace that takes no plans reads the steps as text', async (t) => {
  const { slack, own, show, writes } = await asked(t);
  slack.faults.next('chat.startStream', { kind: 'error', error: 'invalid_chunks' });
  slack.faults.next('chat.postMessage', { kind: 'error', error: 'invalid_blocks' });
  await show(line('done working'));
  await t.waitFor(() => assert.equal(own()[0]?.text, 'Stepping\n✓ Step a\n▸ Step b'));
  await show(undefined);
  assert.deepEqual(writes(), ['startStream invalid_chunks', 'postMessage invalid_blocks', 'postMessage']);
});

test('U18 the newest of many steps show at the pace of the rate limit', async (t) => {
  const clock = createManualClock(Date.now());
  const { show, untilStates, writes } = await asked(t, { channel: { paced: true, clock } });
  for (let count = 1; count <= 6; count += 1) {
    await show(line([...Array.from({ length: count - 1 }, () => 'done'), 'working'].join(' ')));
    await clock.advance(100);
  }
  await clock.advance(3_000);
  await untilStates('a complete,b complete,c complete,d complete,e complete,f in_progress');
  await show(undefined);
  assert.ok(writes().length <= 4, writes().join(' '));
});
