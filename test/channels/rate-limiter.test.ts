import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRateLimiter, type RateLimitRule, type Reserve } from '../../src/channels/rate-limiter.ts';
import type { SharedLimit } from '../../src/store/store.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createManualClock } from '../support/manual-clock.ts';

const chatRule: RateLimitRule = { kind: 'bucket', count: 5, ms: 1000, of: (chat) => chat };
const groupRule: RateLimitRule = {
  kind: 'window',
  count: 20,
  ms: 60_000,
  of: (chat) => (chat.startsWith('-') ? chat : undefined),
};
const overallRule: RateLimitRule = { kind: 'window', count: 30, ms: 1000, of: () => 'all' };
const telegram = [chatRule, groupRule, overallRule];
const runs = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);

test('H8 a chat gets five messages at once and then one a second', async () => {
  const clock = createManualClock();
  const pace = createRateLimiter([chatRule], clock);
  const times = await sendAll(pace.wait, clock, Array<string>(8).fill('42'));
  assert.deepEqual(
    times.map(({ at }) => at),
    [0, 0, 0, 0, 0, 1000, 2000, 3000],
  );
});

test('H8 a chat that waits holds up no other chat, and keeps its own order', async () => {
  const clock = createManualClock();
  const pace = createRateLimiter([chatRule], clock);
  const times = await sendAll(pace.wait, clock, [...Array<string>(7).fill('1'), '2', '1', '2']);
  assert.deepEqual(
    times.filter(({ key }) => key === '2').map(({ at }) => at),
    [0, 0],
  );
  assert.deepEqual(
    times.filter(({ key }) => key === '1').map(({ index }) => index),
    [0, 1, 2, 3, 4, 5, 6, 8],
  );
});

test('H8 whatever is sent, no limit is ever passed and nothing waits longer than it must', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('1', '2', '-100', '-200', '7'), { minLength: 1, maxLength: 90 }),
      async (keys) => {
        const clock = createManualClock();
        const pace = createRateLimiter(telegram, clock);
        const times = await sendAll(pace.wait, clock, keys);
        assert.equal(times.length, keys.length);
        for (const rule of telegram) {
          for (const bucket of new Set(keys.map((key) => rule.of(key)))) {
            if (bucket === undefined) continue;
            const at = times.filter(({ key }) => rule.of(key) === bucket).map((sent) => sent.at);
            assertWithin(rule, at);
          }
        }
        const alone = Math.max(...[...new Set(keys)].map((key) => shortest(keys.filter((k) => k === key))));
        assert.ok((times.at(-1)?.at ?? 0) <= alone + (keys.length / 30) * 1000 + 1000);
      },
    ),
    { numRuns: runs },
  );
});

test('H8 a group gets 20 messages in any minute, and all chats together 30 in any second', async () => {
  const group = createManualClock();
  const inGroup = await sendAll(
    createRateLimiter(telegram, group).wait,
    group,
    Array<string>(25).fill('-100'),
  );
  const at = inGroup.map((sent) => sent.at);
  assert.deepEqual(at.slice(0, 5), [0, 0, 0, 0, 0]);
  assert.deepEqual(
    at.slice(5, 20),
    Array.from({ length: 15 }, (_, n) => (n + 1) * 1000),
  );
  assert.deepEqual(at.slice(20), [60_000, 60_000, 60_000, 60_000, 60_000]);

  const many = createManualClock();
  const chats = Array.from({ length: 65 }, (_, n) => `${n}`);
  const all = await sendAll(createRateLimiter(telegram, many).wait, many, chats);
  const times = all.map((sent) => sent.at);
  assert.deepEqual([times.lastIndexOf(0), times.lastIndexOf(1000), times.lastIndexOf(2000)], [29, 59, 64]);

  const direct = createManualClock();
  const forty = await sendAll(createRateLimiter(telegram, direct).wait, direct, Array<string>(40).fill('42'));
  assert.equal(forty.at(-1)?.at, 35_000, 'no window of groups in a direct message');
});

test('H8 status leaves a quarter of a group’s minute and of the platform’s second to answers', async () => {
  const clock = createManualClock();
  const inGroup = createRateLimiter([groupRule], clock);
  const taken = Array.from({ length: 20 }, () => inGroup.take('-100'));
  assert.deepEqual([taken.lastIndexOf(true), taken.indexOf(false)], [14, 15]);
  const everywhere = createRateLimiter([overallRule], clock);
  const shown = Array.from({ length: 30 }, (_, n) => everywhere.take(`${n}`));
  assert.deepEqual([shown.lastIndexOf(true), shown.indexOf(false)], [22, 23]);
  await Promise.all(Array.from({ length: 5 }, () => inGroup.wait('-100')));
});

test('H8 who waits for the platform’s limit waits behind no other chat’s whole queue', async () => {
  const clock = createManualClock();
  const pace = createRateLimiter([overallRule], clock);
  const times = await sendAll(pace.wait, clock, [...Array<string>(120).fill('1'), '2']);
  assert.equal(times.find(({ key }) => key === '2')?.at, 2000);
});

test('H8 a pause is not shortened by a later one, and a chat that waits longer delays no other', async () => {
  const clock = createManualClock();
  const pace = createRateLimiter([chatRule], clock);
  pace.pause('42', 7000);
  pace.pause('42', 1000);
  const times = await sendAll(pace.wait, clock, ['42', ...Array<string>(6).fill('43')]);
  assert.deepEqual(times.slice(-2), [
    { key: '43', index: 6, at: 1000 },
    { key: '42', index: 0, at: 7000 },
  ]);
});

test('H8 however many chats there are, what was sent to each still counts', async () => {
  const clock = createManualClock();
  const pace = createRateLimiter([chatRule], clock);
  for (let n = 0; n < 5; n++) await pace.wait('first');
  await Promise.all(Array.from({ length: 1_200 }, (_, n) => pace.wait(`${n}`)));
  const [sixth] = await sendAll(pace.wait, clock, ['first']);
  assert.equal(sixth?.at, 1000);
});

test('H8 status never takes the last places and never passes a waiting answer', async () => {
  const clock = createManualClock();
  const pace = createRateLimiter([chatRule], clock);
  const taken = [1, 2, 3, 4, 5].map(() => pace.take('42'));
  assert.deepEqual(taken, [true, true, true, true, false]);
  await pace.wait('42');
  const answer = pace.wait('42');
  assert.equal(pace.take('42'), false);
  await clock.advance(1000);
  await answer;
});

test('H8 a status passes no waiting answer, also where the timer comes late', async () => {
  const time = { now: 0 };
  const pace = createRateLimiter([chatRule], {
    now: () => time.now,
    sleep: () => new Promise(() => undefined),
  });
  for (let n = 0; n < 5; n++) await pace.wait('42');
  void pace.wait('42');
  time.now = 60_000;
  assert.equal(pace.take('42'), false);
  assert.equal(pace.take('43'), true);
});

test('H8 after a 429 nothing goes to that chat until the platform allows it', async () => {
  const clock = createManualClock();
  const pace = createRateLimiter(telegram, clock);
  pace.pause('42', 7000);
  assert.equal(pace.take('42'), false);
  const times = await sendAll(pace.wait, clock, ['42', '43']);
  assert.deepEqual(times, [
    { key: '43', index: 1, at: 0 },
    { key: '42', index: 0, at: 7000 },
  ]);
});

test('H8 without rules everything goes at once, on the real clock too', async () => {
  const pace = createRateLimiter([], systemClock);
  await Promise.all(Array.from({ length: 1000 }, () => pace.wait('42')));
  assert.ok(pace.take('42'));
});

/** Limits as the database keeps them: the moment at which all uses of a key are paid off. */
function sharedCounters(clock: ReturnType<typeof createManualClock>): Reserve & { asked: number } {
  const freeAt = new Map<string, number>();
  const reserve = async (limits: readonly SharedLimit[]): Promise<number> => {
    reserve.asked += 1;
    const waits = limits.map(({ key, count, ms }) => {
      const free = Math.max(freeAt.get(key) ?? 0, clock.now()) + ms;
      freeAt.set(key, free);
      return free - clock.now() - count * ms;
    });
    return Math.max(0, ...waits);
  };
  reserve.asked = 0;
  return reserve;
}

const crowds = {
  chat: Array<string>(12).fill('42'),
  group: Array<string>(30).fill('-100'),
  platform: Array.from({ length: 90 }, (_, n) => `chat ${n}`),
};

for (const [limit, keys] of Object.entries(crowds)) {
  test(`H8 two processes together keep the limit of a ${limit}`, async () => {
    const clock = createManualClock();
    const reserve = sharedCounters(clock);
    const processes = [1, 2].map(() => createRateLimiter(telegram, clock, { name: 'telegram', reserve }));
    const sent = (await Promise.all(processes.map(({ wait }) => sendAll(wait, clock, keys)))).flat();
    assert.deepEqual([sent.length, reserve.asked], [2 * keys.length, 2 * keys.length]);
    sent.sort((a, b) => a.at - b.at);
    for (const rule of telegram) {
      for (const bucket of new Set(keys.map((key) => rule.of(key)))) {
        if (bucket === undefined) continue;
        const at = sent.filter(({ key }) => rule.of(key) === bucket).map((one) => one.at);
        assertWithin(rule, at);
      }
    }
  });
}

test('H8 a status is counted for all processes, and none goes where the others have taken the place', async () => {
  const clock = createManualClock();
  const reserve = sharedCounters(clock);
  const [here, there] = [1, 2].map(() => createRateLimiter([chatRule], clock, { name: 'telegram', reserve }));
  assert.ok(here !== undefined && there !== undefined);
  assert.equal(here.take('42'), true);
  await sendAll(there.wait, clock, Array<string>(4).fill('42'));
  const answer = sendAll(here.wait, clock, ['42', '42']);
  const times = await answer;
  assert.deepEqual(
    times.map(({ at }) => at),
    [1000, 2000],
  );
  const late = there.wait('42');
  await clock.advance(0);
  assert.equal(there.take('42'), false);
  await clock.advance(3000);
  await late;
  assert.equal(there.take('42'), true);
});

type Sent = Readonly<{ key: string; index: number; at: number }>;

/** Asks for all places at once and gives when each was granted. */
async function sendAll(
  wait: (key: string) => Promise<void>,
  clock: ReturnType<typeof createManualClock>,
  keys: readonly string[],
): Promise<readonly Sent[]> {
  const granted: Sent[] = [];
  const start = clock.now();
  const all = Promise.all(
    keys.map(async (key, index) => {
      await wait(key);
      granted.push({ key, index, at: clock.now() - start });
    }),
  );
  await clock.runUntil(all);
  return granted;
}

function assertWithin({ kind, count, ms }: RateLimitRule, at: readonly number[]): void {
  at.forEach((time, index) => {
    if (kind === 'window') {
      const earlier = at[index - count];
      assert.ok(earlier === undefined || time - earlier >= ms, `${count} in ${time - (earlier ?? 0)} ms`);
    } else {
      const from = Math.max(0, index - 300);
      for (let first = from; first < index; first++) {
        const allowed = count + Math.floor((time - (at[first] ?? 0)) / ms);
        assert.ok(index - first + 1 <= allowed, `${index - first + 1} of ${allowed}`);
      }
    }
  });
}

/** The least time one chat's messages need by its own rules. */
function shortest(keys: readonly string[]): number {
  const bySecond = Math.max(0, keys.length - 5) * 1000;
  const byMinute = (keys[0] ?? '').startsWith('-') ? Math.floor((keys.length - 1) / 20) * 60_000 : 0;
  return bySecond + byMinute;
}
