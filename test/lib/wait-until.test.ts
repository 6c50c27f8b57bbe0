import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntil } from '../../src/lib/async/wait-until.ts';
import type { Clock } from '../../src/lib/clock.ts';

/** Time goes on only when the test says so. */
function open() {
  const asleep: { ms: number; wake(): void }[] = [];
  const clock: Clock = {
    now: () => 0,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        asleep.push({ ms, wake: resolve });
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      }),
  };
  const ending = new AbortController();
  const bell: { wake?: () => void; ended: number } = { ended: 0 };
  const subscribe = (wake: () => void) => {
    bell.wake = wake;
    return () => void (bell.ended += 1);
  };
  return { asleep, bell, ending, options: { signal: ending.signal, clock, subscribe } };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('Q9 T8 a wait looks again when its time is up and when it is woken, and ends with what it finds', async () => {
  const { asleep, bell, options } = open();
  let looks = 0;
  const waiting = waitUntil(async () => (++looks === 4 ? { found: 'it' } : looks * 10), options);
  await turn();
  assert.deepEqual([looks, asleep.at(-1)?.ms], [1, 10]);
  asleep.at(-1)?.wake();
  await turn();
  assert.deepEqual([looks, asleep.at(-1)?.ms], [2, 20]);
  bell.wake?.();
  await turn();
  assert.equal(looks, 3);
  bell.wake?.();
  assert.equal(await waiting, 'it');
  assert.equal(bell.ended, 1);
});

test('Q9 T8 what wakes a wait while it looks is not lost', async () => {
  const { bell, options } = open();
  let looks = 0;
  const found = await waitUntil(async () => {
    if (++looks === 1) bell.wake?.();
    return looks === 2 ? { found: looks } : 1_000;
  }, options);
  assert.equal(found, 2);
});

test('Q13 after an abort a wait looks once more: what is there is found, else it rejects with the reason', async () => {
  for (const isThere of [true, false]) {
    const { bell, ending, options } = open();
    let looks = 0;
    const waiting = waitUntil(async () => (++looks === 2 && isThere ? { found: 'it' } : 1_000), options);
    await turn();
    ending.abort(new Error('the bot stops'));
    if (isThere) assert.equal(await waiting, 'it');
    else await assert.rejects(waiting, /the bot stops/);
    assert.deepEqual([looks, bell.ended], [2, 1]);
  }
});
