import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLease, createLeases } from '../../src/store/postgres/lease.ts';
import type { Query } from '../../src/store/postgres/open-database.ts';

const claim = { lane: 'telegram:1', queue: 'outbox/telegram', job: { id: 'job', retryCount: 0 }, epoch: 'e' };

/** A statement made for a lane, answered after `tookMs`. */
async function ask(tookMs: number) {
  const time = { now: 0 };
  const query: Query = async () => {
    time.now += tookMs;
    return { rows: [], changed: 1 };
  };
  const leases = createLeases(undefined, () => time.now);
  const lease = createLease(claim);
  const answer = await leases
    .under(lease, () => leases.fencedQuery(query, 'SELECT', []))
    .then(
      ({ changed }) => changed,
      (error: unknown) => String(error),
    );
  return { answer, state: lease.state() };
}

test('Q9 an answer that comes after a standstill is no leave to go on: the lane may be another process’s by then', async () => {
  assert.deepEqual(await ask(9_000), { answer: 1, state: 'held' });
  const late = await ask(9_001);
  assert.match(String(late.answer), /answered too late/);
  assert.equal(late.state, 'lost');
});
