import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  localDate,
  missedTimes,
  nextTime,
  nextTimes,
  shiftDate,
  shortestGap,
  timeInZone,
} from '../../../src/features/routines/due-times.ts';

const hour = 3_600_000;
const cron = (expression: string) => ({ kind: 'cron', expression }) as const;
const iso = (at: number | undefined): string =>
  at === undefined ? 'never' : new Date(at).toISOString().slice(0, 16);

/** Whose clocks change by an hour, by half an hour, in the other half of the year, at midnight, and never. */
const zones = ['Europe/Berlin', 'Australia/Lord_Howe', 'America/New_York', 'America/Santiago', 'Asia/Tokyo'];
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
  assert.equal(
    missedTimes(daily, 'UTC', { due, now: due + 7 * 24 * hour }).length,
    8,
    'what is due right now',
  );
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

const dateOf = (text: string) => {
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number);
  return { year, month, day };
};

test('U20 dates move by the calendar, over the ends of months, years and leap days', () => {
  const cases: readonly (readonly [string, Parameters<typeof shiftDate>[1], string])[] = [
    ['2026-11-24', {}, '2026-11-24'],
    ['2026-11-30', { days: 1 }, '2026-12-01'],
    ['2026-12-31', { days: 1 }, '2027-1-1'],
    ['2027-01-01', { days: -1 }, '2026-12-31'],
    ['2027-02-28', { days: 1 }, '2027-03-01'],
    ['2028-02-28', { days: 1 }, '2028-02-29'],
    ['2026-11-24', { days: 365 }, '2027-11-24'],
    ['2026-01-31', { months: 1 }, '2026-02-28'],
    ['2028-01-31', { months: 1 }, '2028-02-29'],
    ['2026-12-31', { months: 1 }, '2027-01-31'],
    ['2026-12-31', { months: 2 }, '2027-02-28'],
    ['2026-08-31', { months: 13 }, '2027-09-30'],
    ['2028-02-29', { months: 12 }, '2029-02-28'],
    ['2028-02-29', { months: 48 }, '2032-02-29'],
    ['2026-01-31', { months: 1, days: 1 }, '2026-03-01'],
  ];
  for (const [from, span, to] of cases)
    assert.deepEqual(shiftDate(dateOf(from), span), dateOf(to), `${from} ${JSON.stringify(span)}`);
});

test('N1 a date and time at a place is a time, and a time is such a date', () => {
  const clock = (text: string) =>
    text.split(':').reduce((sum, part, n) => sum + Number(part) * 60 ** (2 - n), 0);
  const cases: readonly (readonly [string, string, string, string])[] = [
    ['2026-11-24', '00:00:00', 'Europe/Berlin', '2026-11-23T23:00:00Z'],
    ['2026-11-24', '23:59:59', 'Europe/Berlin', '2026-11-24T22:59:59Z'],
    ['2026-06-01', '12:30:15', 'Europe/Berlin', '2026-06-01T10:30:15Z'],
    ['2026-11-24', '01:00:00', 'Asia/Tokyo', '2026-11-23T16:00:00Z'],
    ['2026-11-24', '00:30:00', 'Pacific/Kiritimati', '2026-11-23T10:30:00Z'],
    ['2026-11-24', '23:30:00', 'Etc/GMT+12', '2026-11-25T11:30:00Z'],
    ['2026-11-24', '09:45:00', 'Asia/Kathmandu', '2026-11-24T04:00:00Z'],
    ['2028-02-29', '09:00:00', 'America/New_York', '2028-02-29T14:00:00Z'],
    ['2027-01-01', '00:00:00', 'UTC', '2027-01-01T00:00:00Z'],
  ];
  for (const [date, time, zone, at] of cases) {
    const local = { ...dateOf(date), clock: clock(time) };
    assert.equal(timeInZone(local, zone), Date.parse(at), `${date} ${time} ${zone}`);
    assert.deepEqual(localDate(Date.parse(at), zone), local, `${at} ${zone}`);
  }
  for (const [date, time] of [
    ['2027-02-29', '09:00:00'],
    ['2026-11-31', '09:00:00'],
    ['2026-11-00', '09:00:00'],
    ['2026-00-10', '09:00:00'],
    ['2026-13-01', '09:00:00'],
    ['2026-11-24', '24:00:00'],
    ['12000-01-01', '09:00:00'],
  ] as const)
    assert.equal(timeInZone({ ...dateOf(date), clock: clock(time) }, 'UTC'), undefined, `${date} ${time}`);
});

test('N1 a cron expression of six fields has seconds', () => {
  const from = Date.UTC(2026, 5, 1, 9);
  assert.deepEqual(nextTimes(cron('30 0 9 * * *'), 'UTC', from, 2), [
    from + 30_000,
    from + 24 * hour + 30_000,
  ]);
  assert.deepEqual(nextTimes(cron('@daily'), 'UTC', from), [from + 15 * hour]);
  assert.deepEqual(nextTimes(cron('0 9 30 2 *'), 'UTC', from), []);
  assert.throws(() => nextTimes(cron('61 9 * * *'), 'UTC', from), /minute: 61/);
});

test('U20 steps are found from any time, and end with the calendar', () => {
  const steps = (unit: 'day' | 'month', count: number, from: string, clock = 9 * 3_600) =>
    ({ kind: 'steps', unit, count, from: Date.parse(from), clock }) as const;
  const next = (when: ReturnType<typeof steps>, after: string, count = 1) =>
    nextTimes(when, 'Europe/Berlin', Date.parse(after), count).map(iso);
  const fortnight = steps('day', 14, '2026-10-13T07:00Z');
  // The clocks go back in between, so this step is two weeks and an hour after the first.
  assert.deepEqual(next(fortnight, '2026-10-27T07:30Z'), ['2026-10-27T08:00']);
  const monthly = steps('month', 1, '2026-01-31T08:00Z');
  assert.deepEqual(next(monthly, '2031-01-31T07:59Z', 3), [
    '2031-01-31T08:00',
    '2031-02-28T08:00',
    '2031-03-31T07:00',
  ]);
  assert.deepEqual(next(steps('month', 12, '2028-02-29T08:00Z'), '2030-01-01T00:00Z', 3), [
    '2030-02-28T08:00',
    '2031-02-28T08:00',
    '2032-02-29T08:00',
  ]);
  // Its time of day has no parts of a second, so it is before the beginning.
  assert.deepEqual(next(steps('day', 1, '2026-06-01T07:00:00.500Z'), '2026-05-01T00:00Z'), [
    '2026-06-02T07:00',
  ]);
  assert.deepEqual(next(steps('month', 12 * 600, '2026-06-01T07:00Z'), '2026-06-01T07:00Z', 3), [
    '2626-06-01T07:00',
  ]);
  assert.deepEqual(next(steps('month', 12 * 2_000, '2026-06-01T07:00Z'), '2026-06-01T07:00Z'), []);
});
