import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cron } from 'croner';
import { missedTimes, nextTime, nextTimes, shortestGap, timeInZone } from '../../src/routines/due-times.ts';

const hour = 3_600_000;
const cron = (expression: string) => ({ kind: 'cron', expression }) as const;
const iso = (at: number | undefined): string =>
  at === undefined ? 'never' : new Date(at).toISOString().slice(0, 16);

/** Whose clocks change by an hour, by half an hour, in the other half of the year, at midnight, and never. */
const zones = ['Europe/Berlin', 'Australia/Lord_Howe', 'America/New_York', 'America/Santiago', 'Asia/Tokyo'];
/** Compared over a whole year; what comes more often, around the days when clocks change. */
const daily = ['30 2 * * *', '0 0 * * *', '0 9 * * 1-5', '45 23 L * *'];
const often = ['15 1,2,3 * * *', '0 */6 * * *', '*/20 * * * *'];
const changes = ['03-07', '03-28', '04-04', '09-05', '10-03', '10-24', '10-31'];

test('N1 due times are those of croner, over a year in five zones, and go only forward', () => {
  for (const timezone of zones) {
    for (const expression of [...daily, ...often]) {
      const direct = new Cron(expression, { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard' });
      const spans = often.includes(expression)
        ? changes.map((day) => [Date.parse(`2026-${day}`), 3] as const)
        : [[Date.UTC(2026, 0, 1), 365] as const];
      for (const [from, days] of spans) {
        for (let at = from; at < from + days * 24 * hour;) {
          const next = nextTime(cron(expression), timezone, at);
          const where = `${expression} ${timezone} ${iso(at)}`;
          assert.equal(next, direct.nextRun(new Date(at))?.getTime(), where);
          assert.ok(next !== undefined && next > at, where);
          at = next;
        }
      }
    }
  }
});

test('N1 each fixed time comes once a day of the calendar, also when the clocks change', () => {
  for (const zone of zones) {
    for (const expression of ['30 2 * * *', '0 0 * * *', '30 1 * * *']) {
      const times = nextTimes(cron(expression), zone, Date.UTC(2026, 0, 1, 12), 400);
      const days = times.map((at) => new Date(at).toLocaleDateString('sv', { timeZone: zone }));
      assert.equal(new Set(days).size, 400, `${expression} ${zone}`);
    }
  }
});

test('N1 a time that the clocks skip fires at the next that exists, one that comes twice fires once', () => {
  const after = (expression: string, at: string, count: number) =>
    nextTimes(cron(expression), 'Europe/Berlin', Date.parse(at), count).map(iso);
  assert.deepEqual(after('30 2 * * *', '2026-03-28T12:00Z', 2), ['2026-03-29T01:00', '2026-03-30T00:30']);
  assert.deepEqual(after('30 2 * * *', '2026-10-24T12:00Z', 2), ['2026-10-25T00:30', '2026-10-26T01:30']);
  assert.deepEqual(after('30 2,14 * * *', '2026-10-24T23:00Z', 2), ['2026-10-25T00:30', '2026-10-25T13:30']);
  const at = (day: number, month: number) =>
    iso(timeInZone({ year: 2026, month, day, clock: 2.5 * 3_600 }, 'Europe/Berlin'));
  assert.equal(at(29, 3), '2026-03-29T01:00');
  assert.equal(at(25, 10), '2026-10-25T00:30');
  assert.equal(at(30, 2), 'never');
});

test('N5 what was missed is counted from the due time, to a bound', () => {
  const due = Date.UTC(2026, 5, 1, 9);
  const daily = cron('0 9 * * *');
  assert.deepEqual(missedTimes(daily, 'UTC', { due, now: due }), [due]);
  const week = missedTimes(daily, 'UTC', { due, now: due + 7 * 24 * hour - 1 });
  assert.deepEqual([week.length, iso(week.at(-1))], [7, '2026-06-07T09:00']);
  assert.equal(missedTimes(cron('* * * * *'), 'UTC', { due, now: due + 365 * 24 * hour }).length, 1_000);
  assert.deepEqual(missedTimes({ kind: 'once', at: due }, 'UTC', { due, now: due + hour }), [due]);
});

test('N3 the shortest gap is found where it hides', () => {
  const now = Date.UTC(2026, 0, 1);
  assert.equal(shortestGap(cron('0,5 9 * * *'), 'UTC', now), 5 * 60_000);
  assert.equal(shortestGap(cron('0 9 * * *'), 'Europe/Berlin', Date.UTC(2026, 2, 1)), 23 * hour);
  assert.equal(shortestGap({ kind: 'every', ms: 7_000, from: now }, 'UTC', now), 7_000);
  assert.equal(shortestGap({ kind: 'once', at: now + 1 }, 'UTC', now), undefined);
});

test('N1 an interval keeps its beat, whenever it is looked at', () => {
  const every = { kind: 'every', ms: 2 * hour, from: 1_000 } as const;
  assert.deepEqual(nextTimes(every, 'UTC', 1_000, 2), [1_000 + 2 * hour, 1_000 + 4 * hour]);
  assert.equal(nextTime(every, 'UTC', 1_000 + 2 * hour), 1_000 + 4 * hour);
  assert.equal(nextTime(every, 'UTC', 0), 1_000 + 2 * hour);
});

test('U20 steps of days and months go by the calendar, at their time of day, also when the clocks change', () => {
  const from = Date.parse('2026-10-13T07:00Z');
  const fortnight = { kind: 'steps', unit: 'day', count: 14, from, clock: 9 * 3_600 } as const;
  const next = (at: string, count = 1) =>
    nextTimes(fortnight, 'Europe/Berlin', Date.parse(at), count).map(iso);
  assert.deepEqual(next('2026-10-01T00:00Z', 3), [
    '2026-10-13T07:00',
    '2026-10-27T08:00',
    '2026-11-10T08:00',
  ]);
  assert.deepEqual(next('2026-10-13T07:00Z'), ['2026-10-27T08:00'], 'a due time itself is over');
  assert.deepEqual(next('2031-01-01T00:00Z'), ['2031-01-14T08:00']);
  const day31 = Date.parse('2026-01-31T08:00Z');
  const monthly = { kind: 'steps', unit: 'month', count: 1, from: day31, clock: 9 * 3_600 } as const;
  assert.deepEqual(nextTimes(monthly, 'Europe/Berlin', day31, 3).map(iso), [
    '2026-02-28T08:00',
    '2026-03-31T07:00',
    '2026-04-30T07:00',
  ]);
  const skipped = {
    kind: 'steps',
    unit: 'day',
    count: 7,
    from: Date.parse('2026-03-22T01:30Z'),
    clock: 9_000,
  } as const;
  assert.deepEqual(nextTimes(skipped, 'Europe/Berlin', skipped.from, 2).map(iso), [
    '2026-03-29T01:00',
    '2026-04-05T00:30',
  ]);
  for (const zone of zones) {
    const days = nextTimes({ ...fortnight, count: 2 }, zone, from, 400).map((at) =>
      new Date(at).toLocaleDateString('sv', { timeZone: zone }),
    );
    assert.equal(new Set(days).size, 400, zone);
  }
});

test('N1 a time that is due in this very millisecond is over', () => {
  const at = Date.UTC(2026, 5, 1, 9);
  assert.equal(nextTime({ kind: 'once', at }, 'UTC', at), undefined);
  assert.equal(nextTime({ kind: 'once', at }, 'UTC', at - 1), at);
  assert.equal(nextTime(cron('0 9 * * *'), 'UTC', at), at + 24 * hour);
  assert.equal(nextTime({ kind: 'every', ms: hour, from: at }, 'UTC', at + hour), at + 2 * hour);
});
