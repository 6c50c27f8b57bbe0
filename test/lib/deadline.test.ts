import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDeadline } from '../../src/lib/async/deadline.ts';
import { createManualClock } from '../support/manual-clock.ts';

test('U5 the time is up after the limit, counted from the start', async () => {
  const clock = createManualClock();
  const deadline = createDeadline(clock);
  await clock.advance(5_000);
  deadline.start(1_000);
  await clock.advance(999);
  assert.equal(deadline.signal.aborted, false);
  await clock.advance(1);
  assert.equal((deadline.signal.reason as DOMException).name, 'TimeoutError');
});

test('T8 time in which a person is waited for does not count, two waits at once included', async () => {
  const clock = createManualClock();
  const deadline = createDeadline(clock);
  deadline.start(1_000);
  await clock.advance(400);
  const answers = [Promise.withResolvers<string>(), Promise.withResolvers<string>()] as const;
  const waits = answers.map(({ promise }) => deadline.pause(() => promise));
  await clock.advance(60_000);
  answers[0].resolve('yes');
  assert.equal(await waits[0], 'yes');
  await clock.advance(60_000);
  answers[1].reject(new Error('gone'));
  await assert.rejects(waits[1]!, /gone/);
  await clock.advance(599);
  assert.equal(deadline.signal.aborted, false);
  await clock.advance(1);
  assert.equal(deadline.signal.aborted, true);
});

test('T8 a wait that began before the start ends before the limit counts; after the end nothing counts', async () => {
  const clock = createManualClock();
  const deadline = createDeadline(clock);
  const answer = Promise.withResolvers<void>();
  const wait = deadline.pause(() => answer.promise);
  deadline.start(1_000);
  await clock.advance(10_000);
  answer.resolve();
  await wait;
  await clock.advance(999);
  assert.equal(deadline.signal.aborted, false);
  deadline.end();
  await clock.advance(10_000);
  assert.equal(deadline.signal.aborted, false);
});
