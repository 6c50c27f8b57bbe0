import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createShowWork } from '../../src/app/show-work.ts';
import type { Channel } from '../../src/core/channel.ts';
import { createManualClock } from '../support/manual-clock.ts';

const here = { channel: 'telegram', chat: '42' };

function setUp() {
  const seen: string[] = [];
  const channel = {
    name: 'telegram',
    async status(_conversation, status) {
      seen.push(status === undefined ? 'gone' : status.kind === 'typing' ? 'typing' : status.text);
    },
  } satisfies Pick<Channel, 'name' | 'status'>;
  const clock = createManualClock();
  const work = createShowWork({ channels: new Map([['telegram', channel as unknown as Channel]]), clock });
  return { seen, clock, work };
}

test('U13 typing shows at once, a line after some seconds, which changes, and goes with the answer', async () => {
  const { seen, clock, work } = setUp();
  const shown = work.begin(here);
  shown.progress('research: step 1');
  await clock.advance(2_999);
  assert.deepEqual(seen, ['typing']);
  await clock.advance(1);
  shown.progress('research: step 2');
  await clock.advance(1);
  const answered = Promise.withResolvers<void>();
  shown.end(answered.promise);
  await clock.advance(1_000);
  assert.deepEqual(seen, ['typing', 'research: step 1', 'research: step 2']);
  answered.resolve();
  await work.settled();
  assert.deepEqual(seen.slice(3), ['gone']);
});

test('H7 what newer work shows in the same conversation is not removed by older work', async () => {
  const { seen, clock, work } = setUp();
  const answered = Promise.withResolvers<void>();
  work.begin(here).end(answered.promise);
  const newer = work.begin(here);
  answered.resolve();
  await work.settled();
  assert.deepEqual(seen, ['typing', 'typing']);
  newer.end(Promise.resolve());
  await work.settled();
  await clock.advance(10_000);
  assert.deepEqual(seen, ['typing', 'typing', 'gone']);
});
