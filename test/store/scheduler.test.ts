import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createScheduler } from '../../src/store/scheduler.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';

test('Q3 work is looked for by the earliest time that a look has named, and later ones are not forgotten', async () => {
  const clock = createManualClock(0);
  const due = [100, 50, 200, 80, undefined, 200];
  const looks: number[] = [];
  const scheduler = createScheduler({
    look: async () => {
      looks.push(clock.now());
      return due.shift();
    },
    what: 'the inbox',
    clock,
    log: quietLog(),
  });
  // Each of three looks names a time of its own; the alarm of the second is the first to ring.
  for (let n = 0; n < 3; n++) {
    scheduler.wake();
    await clock.advance(1);
  }
  assert.deepEqual(looks, [0, 1, 2]);
  await clock.advance(47);
  assert.deepEqual(looks.slice(3), [50]);
  await clock.advance(40);
  assert.deepEqual(looks.slice(4), [80]);
  scheduler.wake();
  await clock.advance(1_000);
  assert.deepEqual(looks.slice(5), [90, 200]);
  scheduler.stop();
});
