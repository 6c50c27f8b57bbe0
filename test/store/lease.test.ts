import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLease, createLeases, lost, trustedMs } from '../../src/store/postgres/lease.ts';

const claim = { queue: 'telegram:1', jobQueue: 'inbox', job: { id: 'j', retryCount: 2 }, epoch: 'e' };

test('Q9 a queue that was lost stays lost, and what runs in it is told', () => {
  const lease = createLease(claim);
  lease.lose();
  lease.release();
  assert.deepEqual([lease.state(), lease.lost.aborted], ['lost', true]);
  const given = createLease(claim);
  given.release();
  given.lose();
  assert.deepEqual([given.state(), given.lost.aborted], ['released', false]);
});

test('Q9 a write under a lost queue rejects, and the queue is lost for all that runs in it', async () => {
  let told = 0;
  const leases = createLeases(() => (told += 1));
  const lease = createLease(claim);
  await assert.rejects(
    leases.under(lease, () => leases.fenced(async () => lost)),
    /was lost to another process/,
  );
  assert.deepEqual([lease.state(), told], ['lost', 1]);
});

test('Q9 an answer that came later than a queue is trusted counts as a lost queue', async () => {
  const clock = { now: 0 };
  const leases = createLeases(undefined, () => clock.now);
  const lease = createLease(claim);
  const write = (ms: number) => leases.fenced(async () => ((clock.now += ms), 'written'));
  assert.equal(await leases.under(lease, () => write(trustedMs)), 'written');
  await assert.rejects(
    leases.under(lease, () => write(trustedMs + 1)),
    /too late/,
  );
  assert.equal(lease.state(), 'lost');
});

test('Q9 a write carries the claim of its queue, and none once that was given back', async () => {
  const leases = createLeases();
  const lease = createLease(claim);
  const fence = () => leases.under(lease, () => leases.fenced(async (own) => own));
  assert.deepEqual(await fence(), { epoch: 'e', jobQueue: 'inbox', job: 'j', attempt: 2 });
  lease.release();
  assert.deepEqual(await fence(), { epoch: null, jobQueue: null, job: null, attempt: null });
});
