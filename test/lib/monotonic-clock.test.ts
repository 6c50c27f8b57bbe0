import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonicClock } from '../../src/lib/async/deadline.ts';

test('H8 the time of waits goes forward with the clock, and goes on where it was when the clock is set back', () => {
  const wall = { now: 1_000 };
  const time = monotonicClock({ now: () => wall.now, sleep: async () => undefined });
  const at = (now: number): number => {
    wall.now = now;
    return time();
  };
  assert.equal(at(1_500), 1_500);
  assert.equal(at(500), 1_500);
  assert.equal(at(700), 1_700);
  assert.equal(at(90_000), 91_000);
  assert.equal(at(0), 91_000);
});
