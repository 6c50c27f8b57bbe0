import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { isZone, localDay, localTime, systemZone, untilNextDay } from '../../src/core/local-time.ts';

const before = process.env['TZ'];

test('M8 a time is told with its day, weekday and zone', () => {
  const at = Date.UTC(2026, 0, 1, 23, 30);
  assert.equal(localTime(at, 'UTC'), '2026-01-01 (Thursday), 23:30 UTC');
  assert.equal(localTime(at, 'Europe/Zurich'), '2026-01-02 (Friday), 00:30 Europe/Zurich');
  assert.equal(localTime(at, 'America/New_York'), '2026-01-01 (Thursday), 18:30 America/New_York');
});

test('B4 M8 the time of the machine’s own zone needs nothing of Intl, and is the same', (t) => {
  const zones = ['UTC', 'Europe/Zurich', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe'];
  // Winter, summer, and the minutes around a change of the clocks.
  const times = [0, Date.UTC(2026, 1, 3, 4, 5), Date.UTC(2026, 2, 29, 0, 59), Date.UTC(2026, 2, 29, 1), 2e12];
  for (const zone of zones) {
    inZone(t, 'Pacific/Apia');
    const byIntl = times.map((at) => localTime(at, zone));
    inZone(t, zone);
    const format = t.mock.method(Intl, 'DateTimeFormat');
    assert.deepEqual([systemZone(), ...times.map((at) => localTime(at, zone))], [zone, ...byIntl]);
    assert.equal(format.mock.callCount(), 0);
    format.mock.restore();
  }
});

test('M8 a zone that may be none is asked of Intl', (t) => {
  for (const zone of [':/etc/localtime', 'Mars/Olympus', 'Africa/Abidjan']) {
    inZone(t, zone);
    const format = t.mock.method(Intl, 'DateTimeFormat');
    const found = systemZone();
    assert.equal(format.mock.callCount(), 1);
    format.mock.restore();
    assert.equal(found, new Intl.DateTimeFormat().resolvedOptions().timeZone);
  }
});

test('U10 a day begins and ends at midnight of its zone, also where the clocks change', () => {
  const hours = (zone: string, at: number): number => untilNextDay(at, zone) / 3_600_000;
  assert.equal(hours('Europe/Zurich', Date.UTC(2026, 9, 24, 22)), 25, 'summer time ends');
  assert.equal(hours('Europe/Zurich', Date.UTC(2026, 2, 28, 23)), 23, 'summer time begins');
  assert.equal(hours('UTC', Date.UTC(2026, 0, 1, 23, 30)), 0.5);
  assert.equal(hours('Asia/Kathmandu', Date.UTC(2026, 0, 1, 18)), 0.25);
  const border = Date.UTC(2026, 9, 31, 23);
  assert.deepEqual(
    [border - 1, border].map((at) => localDay(at, 'Europe/Zurich')),
    ['2026-10-31', '2026-11-01'],
  );
  assert.equal(untilNextDay(border - 1, 'Europe/Zurich'), 1);
});

test('G2 what is no zone is known as such', () => {
  assert.deepEqual(['UTC', 'Asia/Tokyo', 'Mars/Olympus', ''].map(isZone), [true, true, false, false]);
});

/** Node reads the zone again when this changes. */
function inZone(t: TestContext, zone: string): void {
  process.env['TZ'] = zone;
  t.after(() => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  });
}

test('B1 the format of a zone is made once, however often days are asked for', (t) => {
  const made = t.mock.method(Intl, 'DateTimeFormat');
  const days = Array.from({ length: 30 }, (_, day) => localDay(day * 86_400_000, 'Pacific/Chatham'));
  assert.equal(days.at(-1), '1970-01-30');
  assert.ok(made.mock.callCount() <= 1);
});
