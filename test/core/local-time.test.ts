import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isZone, localTime } from '../../src/core/local-time.ts';

test('M8 a time is told with its day, weekday and zone', () => {
  const at = Date.UTC(2026, 0, 1, 23, 30);
  assert.equal(localTime(at, 'UTC'), '2026-01-01 (Thursday), 23:30 UTC');
  assert.equal(localTime(at, 'Europe/Zurich'), '2026-01-02 (Friday), 00:30 Europe/Zurich');
  assert.equal(localTime(at, 'America/New_York'), '2026-01-01 (Thursday), 18:30 America/New_York');
});

test('G2 what is no zone is known as such', () => {
  assert.deepEqual(['UTC', 'Asia/Tokyo', 'Mars/Olympus', ''].map(isZone), [true, true, false, false]);
});
