import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createHeartbeat } from '../../src/store/postgres/create-heartbeat.ts';
import { createLease, type Claim } from '../../src/store/postgres/lease.ts';
import { quietLog } from '../support/quiet-log.ts';

const claimOf = (queue: string): Claim => ({
  queue,
  jobQueue: 'inbox/telegram',
  job: { id: queue, retryCount: 0 },
  epoch: 'e',
});

/** `touch` is given when and for which queues; time goes on in steps of 100 ms. */
function setUp(t: TestContext, touch: (at: number, queues: readonly string[]) => Promise<readonly string[]>) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const time = { now: 0 };
  const heartbeat = createHeartbeat(
    async (claims) => {
      const lost = await touch(
        time.now,
        claims.map(({ queue }) => queue),
      );
      return claims.filter(({ queue }) => lost.includes(queue));
    },
    quietLog(),
    () => time.now,
  );
  t.after(() => heartbeat.close());
  return {
    heartbeat,
    async pass(ms: number, each: (at: number) => void = () => undefined) {
      for (const until = time.now + ms; time.now < until;) {
        time.now += 100;
        t.mock.timers.tick(100);
        each(time.now);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

test('Q9 a queue that is paused at every tick is still kept alive, and is not lost', async (t) => {
  const touched: number[] = [];
  const { heartbeat, pass } = setUp(t, async (at) => (touched.push(at), []));
  const lease = createLease(claimOf('telegram:1'));
  heartbeat.keep(lease, 0);
  await pass(60_000, (at) => {
    if (at % 1_000 === 500) heartbeat.resume(lease);
    if (at % 1_000 === 600) void heartbeat.pause(lease);
  });
  assert.equal(lease.state(), 'held');
  const gaps = touched.map((at, n) => at - (touched[n - 1] ?? 0));
  assert.ok(Math.max(...gaps) <= 4_000, gaps.join(' '));
  assert.ok(Math.min(...gaps) >= 3_000, gaps.join(' '));
});

test('Q9 queues share a sign of life, and a queue that the database gave away is lost alone', async (t) => {
  const touched: (readonly string[])[] = [];
  const { heartbeat, pass } = setUp(t, async (_at, queues) => {
    touched.push(queues);
    return touched.length === 2 ? ['telegram:2'] : [];
  });
  const [one, two] = [createLease(claimOf('telegram:1')), createLease(claimOf('telegram:2'))];
  heartbeat.keep(one, 0);
  await pass(1_000);
  heartbeat.keep(two, 1_000);
  await pass(9_000);
  assert.deepEqual(touched, [['telegram:1', 'telegram:2'], ['telegram:1', 'telegram:2'], ['telegram:1']]);
  assert.deepEqual([one.state(), two.state()], ['held', 'lost']);
});

test('Q9 a queue whose signs of life fail is lost after nine seconds, asked for each second until then', async (t) => {
  const touched: number[] = [];
  const { heartbeat, pass } = setUp(t, (at) => (touched.push(at), Promise.reject(new Error('away'))));
  const lease = createLease(claimOf('telegram:1'));
  heartbeat.keep(lease, 0);
  await pass(9_000);
  assert.equal(lease.state(), 'held');
  await pass(1_000);
  assert.equal(lease.state(), 'lost');
  assert.deepEqual(touched, [3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000]);
});
