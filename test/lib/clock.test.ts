import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { systemClock } from '../../src/lib/clock.ts';

test('Q7 a sleep ends with its time, or with the very reason it was called off for, and leaves no listener behind', async () => {
  const over = new AbortController();
  const listeners = (): number => getEventListeners(over.signal, 'abort').length;
  await systemClock.sleep(1, over.signal);
  assert.equal(listeners(), 0);

  const reason = new Error('enough');
  const long = systemClock.sleep(600_000, over.signal);
  assert.equal(listeners(), 1);
  over.abort(reason);
  await assert.rejects(long, (error) => error === reason);
  assert.equal(listeners(), 0);
  await assert.rejects(systemClock.sleep(1, over.signal), (error) => error === reason);
});
