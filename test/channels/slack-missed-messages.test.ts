import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMissedMessages } from '../../src/channels/slack/missed-messages.ts';

const said = (type: string, channel: string, ts: string) => ({
  type: 'event_callback',
  event: { type, channel, ts },
});

test('H13 three mentions in a channel without a message mean that messages are not subscribed to', () => {
  const misses = createMissedMessages();
  const seen = ['1.1', '1.1', '1.1', '1.2', '1.3'].map((ts) => misses(said('app_mention', 'C1', ts)));
  assert.deepEqual(seen, [false, false, false, false, true], 'the same one, delivered again, counts once');
  assert.equal(misses(said('app_mention', 'C2', '2.1')), false, 'each channel for itself');
  assert.equal(misses(said('message', 'C2', '2.1')), false);
  for (const ts of ['2.2', '2.3', '2.4', '2.5']) assert.equal(misses(said('app_mention', 'C2', ts)), false);
  for (const odd of [undefined, {}, { event: { type: 'message' } }]) assert.equal(misses(odd), false);
});
