import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRateLimiter, type RateLimitRule } from '../../src/channels/rate-limiter.ts';
import type { SharedLimit } from '../../src/store/store.ts';
import { createManualClock } from '../support/manual-clock.ts';

/** What a rule asks of the counters that all processes share. */
async function sharedOf(...rules: readonly RateLimitRule[]): Promise<readonly (readonly SharedLimit[])[]> {
  const asked: (readonly SharedLimit[])[] = [];
  const reserve = async (limits: readonly SharedLimit[]): Promise<number> => (asked.push(limits), 0);
  await createRateLimiter(rules, createManualClock(), { name: 'telegram', reserve }).wait('42');
  return asked;
}

test('H8 Q9 all processes together keep a rule: a bucket as it is, a window as a bucket that never passes it', async () => {
  const rule = { kind: 'window', of: (key: string) => key } as const;
  for (const [kind, count, ms, shared] of [
    ['bucket', 5, 1_000, { count: 5, ms: 1_000 }],
    ['window', 20, 60_000, { count: 5, ms: 4_000 }],
    ['window', 30, 1_000, { count: 7, ms: 44 }],
    ['window', 3, 1_000, { count: 1, ms: 500 }],
    ['window', 1, 1_000, { count: 1, ms: 1_000 }],
  ] as const) {
    assert.deepEqual(await sharedOf({ ...rule, kind, count, ms }), [[{ key: 'telegram 0 42', ...shared }]]);
    if (kind === 'window')
      assert.ok(shared.count + Math.floor((ms - 1) / shared.ms) <= count, `${count} in ${ms}`);
  }
  const none: RateLimitRule = { ...rule, count: 1, ms: 1, of: () => undefined };
  const all: RateLimitRule = { kind: 'bucket', count: 2, ms: 3, of: () => 'all' };
  assert.deepEqual(await sharedOf(none, all), [[{ key: 'telegram 1 all', count: 2, ms: 3 }]]);
  assert.deepEqual(await sharedOf(none), [], 'where no rule holds, nobody is asked');
});

test('H8 while other processes have the place no status goes, and then at once', async () => {
  const clock = createManualClock();
  const waits = [1_000, 0];
  const reserve = async (): Promise<number> => waits.shift() ?? 0;
  const rule: RateLimitRule = { kind: 'bucket', count: 50, ms: 1, of: (key) => key };
  const pace = createRateLimiter([rule], clock, { name: 'telegram', reserve });
  const answer = pace.wait('42');
  await clock.advance(999);
  assert.deepEqual([pace.take('42'), pace.take('43')], [false, true]);
  await clock.advance(1);
  await answer;
  assert.equal(pace.take('42'), true);
});
