import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWhen } from '../../../src/features/routines/read-when.ts';

/** Tuesday, 24 November 2026, 12:30 in Berlin. */
const now = Date.parse('2026-11-24T11:30:00Z');
const zone = 'Europe/Berlin';

type Result = Readonly<{ at: string; zone?: string; byClock?: boolean }>;

/** The one time that words mean, in UTC to the millisecond. `byClock` is true unless a case says otherwise. */
function meansOnce(cases: Readonly<Record<string, string | Result>>, of = { zone, now }): void {
  for (const [words, expected] of Object.entries(cases)) {
    const { at, zone: named, byClock = true } = typeof expected === 'string' ? { at: expected } : expected;
    const when = { kind: 'once', at: Date.parse(at) } as const;
    assert.deepEqual(readWhen(words, of), { ok: true, when, zone: named, byClock }, words);
  }
}

/** Times by the clock in Berlin, which is an hour ahead of UTC in winter. */
const clock = (date: string, time = '09:00:00') => `${date}T${time}+01:00`;

test('N2 ISO times are read to the millisecond, in their own zone or the known one', () => {
  const inUtc = (at: string): Result => ({ at, byClock: false });
  meansOnce({
    '2026-12-24T18:00': clock('2026-12-24', '18:00'),
    '2026-12-24 18:00:59': clock('2026-12-24', '18:00:59'),
    '2026-12-24T23:59:59.5': clock('2026-12-24', '23:59:59.500'),
    '2026-12-24T18:59:00,25': clock('2026-12-24', '18:59:00.250'),
    '2026-12-24T18:00:00.000000001Z': inUtc('2026-12-24T18:00:00.001Z'),
    '2026-12-24t18:00z': inUtc('2026-12-24T18:00Z'),
    '2026-12-24T18:00 Z': inUtc('2026-12-24T18:00Z'),
    '2026-12-24T18:00+14:00': inUtc('2026-12-24T04:00Z'),
    '2026-12-24T18:00+05:30': inUtc('2026-12-24T12:30Z'),
    '2026-12-24T18:00+0545': inUtc('2026-12-24T12:15Z'),
    '2026-12-24T18:00-03:30': inUtc('2026-12-24T21:30Z'),
    '2026-12-24T18:00-03': inUtc('2026-12-24T21:00Z'),
    '2026-12-24T18:00+00:59': inUtc('2026-12-24T17:01Z'),
    '2026-12-24T00:30 +01:00': inUtc('2026-12-23T23:30Z'),
    // Clocks in Berlin skip 2:30 on 28 March 2027, and show it twice on 31 October.
    '2027-03-28T02:30': '2027-03-28T01:00Z',
    '2027-10-31T02:30': '2027-10-31T00:30Z',
    '2027-10-31T02:30+01:00': inUtc('2027-10-31T01:30Z'),
  });
});

test('N2 times from now keep their length, and days and months the time of day', () => {
  const fromNow = (at: string): Result => ({ at, byClock: false });
  meansOnce({
    'in 20 minutes': fromNow('2026-11-24T11:50Z'),
    '  In   20  minutes ': fromNow('2026-11-24T11:50Z'),
    'in 20 minutes.': fromNow('2026-11-24T11:50Z'),
    'in 20 minutes!': fromNow('2026-11-24T11:50Z'),
    in20m: fromNow('2026-11-24T11:50Z'),
    '+20m': fromNow('2026-11-24T11:50Z'),
    '+ 20m': fromNow('2026-11-24T11:50Z'),
    'after 20 minutes': fromNow('2026-11-24T11:50Z'),
    '20 minutes later': fromNow('2026-11-24T11:50Z'),
    '20 minutes from now': fromNow('2026-11-24T11:50Z'),
    'in 1 hour , 5 minutes': fromNow('2026-11-24T12:35Z'),
    'in 1 hour,5 minutes': fromNow('2026-11-24T12:35Z'),
    PT20M: fromNow('2026-11-24T11:50Z'),
    'in 5 months': fromNow('2027-04-24T10:30Z'),
    'in 1 month and 3 hours': fromNow('2026-12-24T14:30Z'),
    'in 20 minutes Asia/Tokyo': { at: '2026-11-24T11:50Z', zone: 'Asia/Tokyo', byClock: false },
  });
  const atMs = Date.parse('2026-11-24T11:30:15.250Z');
  meansOnce(
    { 'in 2 days': fromNow('2026-11-26T11:30:15.250Z'), 'in 2 seconds': fromNow('2026-11-24T11:30:17.250Z') },
    { zone, now: atMs },
  );
  // Half past two for the second time, on the night when the clocks go back.
  const twice = Date.parse('2026-10-25T01:30:00Z');
  meansOnce({ 'in 1 hour': fromNow('2026-10-25T02:30Z') }, { zone, now: twice });
  // A day is 23 hours long on the day before the clocks go forward.
  meansOnce({ 'in 1 day': fromNow('2027-03-28T10:00Z') }, { zone, now: Date.parse('2027-03-27T11:00Z') });
});

test('U20 days and times of day are the next ones to come', () => {
  meansOnce({
    '12:30': clock('2026-11-25', '12:30'),
    '12:31': clock('2026-11-24', '12:31'),
    'today at 13': clock('2026-11-24', '13:00'),
    tomorrow: clock('2026-11-25'),
    'tomorrow,9:00': clock('2026-11-25'),
    'tomorrow ,9:00': clock('2026-11-25'),
    'tomorrow 9:00,': clock('2026-11-25'),
    'in the morning': clock('2026-11-25'),
    'this afternoon': clock('2026-11-24', '15:00'),
    'tomorrow night': clock('2026-11-25', '20:00'),
    tonight: clock('2026-11-24', '20:00'),
    'tonight at 8': clock('2026-11-24', '20:00'),
    'tonight at 12': clock('2026-11-25', '00:00'),
    'tonight at midnight': clock('2026-11-25', '00:00'),
    'tonight at 1am': clock('2026-11-25', '01:00'),
    '2 at night': clock('2026-11-25', '02:00'),
    '12 at night': clock('2026-11-25', '00:00'),
    'tomorrow at 8 am': clock('2026-11-25', '08:00'),
    'at 9 a.m. tomorrow.': clock('2026-11-25'),
    '2 weeks from friday at 10': clock('2026-12-11', '10:00'),
    'tuesday at 12:30': clock('2026-12-01', '12:30'),
    '5.12.': clock('2026-12-05'),
    '05.12.': clock('2026-12-05'),
    '25. 11.': clock('2026-11-25'),
    'on 5.12.': clock('2026-12-05'),
    '5.01.': clock('2027-01-05'),
    '5.10.': clock('2027-10-05', '09:00').replace('+01', '+02'),
    '5.13.': clock('2026-11-25', '05:13'),
    '5.00.': clock('2026-11-25', '05:00'),
    '5.12': clock('2026-11-25', '05:12'),
    'at 5.12.': clock('2026-11-25', '05:12'),
    '5.12. 18:00': clock('2026-12-05', '18:00'),
    '24 december at 18:00!': clock('2026-12-24', '18:00'),
    '24 november at 12:30': clock('2027-11-24', '12:30'),
    '29 feb': clock('2028-02-29'),
    '2036-11-24': clock('2036-11-24'),
  });
  // In the small hours, the same night is meant.
  const early = { zone, now: Date.parse('2026-11-24T23:10:00Z') };
  meansOnce(
    { 'tonight at 1': clock('2026-11-25', '01:00'), 'tonight at 12': clock('2026-11-26', '00:00') },
    early,
  );
  // Ten years are 3,653 days.
  const last = new Date(now + 3_653 * 24 * 3_600_000).toISOString();
  meansOnce({ [last]: { at: last, byClock: false } });
});

test('N2 a zone that the text names counts instead of the known one', () => {
  const nine = { at: '2026-11-25T14:00Z', zone: 'America/New_York' };
  meansOnce({
    'tomorrow at 9:00 America/New_York': nine,
    'tomorrow at 9:00, America/New_York': nine,
    'tomorrow at 9:00 in America/New_York': nine,
    'tomorrow at 9:00 (America/New_York)': nine,
    'tomorrow at 9:00(America/New_York)': nine,
    'tomorrow at 9:00 [America/New_York]': nine,
    'tomorrow at 9:00 America/New_York time': nine,
    'tomorrow at 9:00 Etc/GMT+5': { ...nine, zone: 'Etc/GMT+5' },
    'tomorrow at 9:00 America/Indiana/Indianapolis': { ...nine, zone: 'America/Indiana/Indianapolis' },
    // There it is still Monday.
    'tomorrow at 9:00 Etc/GMT+12': { at: '2026-11-24T21:00Z', zone: 'Etc/GMT+12' },
    'tomorrow at 9:00 UTC': { at: '2026-11-25T09:00Z', zone: 'UTC' },
    'tomorrow at 9:00 GMT': { at: '2026-11-25T09:00Z', zone: 'UTC' },
    // There it is still 06:30 of the same day, and already 20:30.
    '9am America/New_York': { at: '2026-11-24T14:00Z', zone: 'America/New_York' },
    '9am Asia/Tokyo': { at: '2026-11-25T00:00Z', zone: 'Asia/Tokyo' },
    'in 1 day Asia/Tokyo': { at: '2026-11-25T11:30Z', zone: 'Asia/Tokyo', byClock: false },
  });
});

test('N2 cron expressions are kept as they are, without seconds that are zero', () => {
  const cases: Readonly<Record<string, readonly [string, string?]>> = {
    '0 9 * * 1-5': ['0 9 * * 1-5'],
    '0  9 * * *': ['0 9 * * *'],
    ' 0 9 * * * ': ['0 9 * * *'],
    '*/15 8-17 * * *': ['*/15 8-17 * * *'],
    '0 9 L * *': ['0 9 L * *'],
    '0 9 1W * *': ['0 9 1W * *'],
    '0 9 * * mon#2': ['0 9 * * mon#2'],
    '0 9 ? * MON': ['0 9 * * MON'],
    '0 0 9 * * *': ['0 9 * * *'],
    '00 0 9 * * *': ['0 9 * * *'],
    '30 0 9 ? * ?': ['30 0 9 * * *'],
    '5 0 9 * * *': ['5 0 9 * * *'],
    '@daily': ['@daily'],
    '@hourly': ['@hourly'],
    'TZ=Asia/Tokyo 0 9 * * *': ['0 9 * * *', 'Asia/Tokyo'],
    'cron_tz=Asia/Tokyo 0 9 * * *': ['0 9 * * *', 'Asia/Tokyo'],
    '0 9 * * * Asia/Tokyo': ['0 9 * * *', 'Asia/Tokyo'],
    'fri to mon at 9': ['0 9 * * 5-6,0-1'],
  };
  for (const [words, [expression, named]] of Object.entries(cases)) {
    const when = { kind: 'cron', expression } as const;
    assert.deepEqual(readWhen(words, { zone, now }), { ok: true, when, zone: named, byClock: true }, words);
  }
});

test('N2 an interval and steps pass on what their words mean', () => {
  const every = { kind: 'every', ms: 7_200_000, from: now } as const;
  assert.deepEqual(readWhen('Every 2 hours', { zone, now }), {
    ok: true,
    when: every,
    zone: undefined,
    byClock: false,
  });
  const steps = {
    kind: 'steps',
    unit: 'day',
    count: 14,
    from: Date.parse(clock('2026-11-30')),
    clock: 32_400,
  } as const;
  assert.deepEqual(readWhen('every 2 weeks on Monday', { zone, now }), {
    ok: true,
    when: steps,
    zone: undefined,
    byClock: true,
  });
});

test('N2 what is refused says why, and only what was right once is in the past', () => {
  const problems: Readonly<Record<string, readonly string[]>> = {
    'is no time.': [
      '',
      'soon',
      'x2026-12-24T18:00',
      '2026-12-24T18:00x',
      '2026-12-24T18:00+01:00x',
      '24:00',
      '0 9 * *',
      '0x 9 * * *',
      'x0 9 * * *',
      '0 9x * * *',
      'at 5 in 3 days after work',
      'within a day',
      '20 minutes later on',
      'x in 5 minutes',
      'America/New_York',
      'UTC',
      'tomorrow at 9:00 CET',
      '32 december',
    ],
    'is no time from now.': ['in a while', 'after work', 'in 3 hours on monday', 'in 0 minutes'],
    'is no time that exists.': [
      '2026-02-30T09:00',
      '2027-02-29T09:00',
      '2026-00-10T09:00',
      '2026-10-00T09:00',
      '2026-13-01T09:00',
      '2026-12-24T24:00',
      '2026-12-24T18:60',
      '2026-12-24T18:00:60',
      '2026-12-24T18:60:60',
      '2026-12-24T18:00+15:00',
      '2026-12-24T18:00+01:60',
      '31 june',
      '29 feb 2027',
      '30.2.',
      'in 9000 years',
      '2.13.2027',
    ],
    'is no interval.': [
      'every foo',
      'every',
      '32nd of the month',
      '6th friday of the month',
      'every 32 december',
    ],
    'never comes:': ['0 9 30 2 *', 'every 31 june at 9', 'every 9000 years'],
    'is more than ten years away.': [
      '2099-01-01T09:00',
      'in 11 years',
      new Date(now + 3_653 * 24 * 3_600_000 + 1).toISOString(),
    ],
    'is in the past:': ['2026-11-24', 'today at 12', 'today', '2026-11-24T11:30:00Z', '1 january 2026'],
    'has 7 fields.': ['0 0 9 * * * 2027'],
    'begins with the seconds,': ['* 0 9 * * *', '100 0 9 * * *', '1,2 0 9 * * *', '*/5 0 9 * * *'],
    'is no cron expression:': ['61 9 * * *', '0 9 32 * *', '@reboot', '0 9 * * 8'],
  };
  for (const [problem, cases] of Object.entries(problems))
    for (const words of cases) {
      const read = readWhen(words, { zone, now });
      assert.ok(!read.ok, words);
      const start = `"${words}" ${problem}`;
      assert.equal(read.problem.slice(0, start.length), start);
      assert.equal(read.isPast, problem === 'is in the past:' ? true : undefined, words);
    }
  const tooLong = readWhen('9'.repeat(101), { zone, now });
  assert.ok(!tooLong.ok && tooLong.problem.startsWith('"when" is longer than 100 characters.'));
  const notTooLong = readWhen('9'.repeat(100), { zone, now });
  assert.ok(!notTooLong.ok && notTooLong.problem.includes('is no time.'));
  for (const words of ['9am Mars/Base', 'TZ=Mars/Base 0 9 * * *']) {
    const read = readWhen(words, { zone, now });
    assert.ok(!read.ok && read.problem.startsWith('"Mars/Base" is no time zone.'), words);
  }
});

test('N2 no words make the reader throw', () => {
  const ordinals = ['first', 'last', '0th', '5th', '6th', '31st', '32nd', '99'];
  const days = ['', 'day', 'monday', 'fri to mon', 'sunday to saturday', 'foo'];
  const months = ['', 'of the month', 'february', 'december 2027'];
  for (const ordinal of ordinals)
    for (const day of days)
      for (const month of months)
        for (const words of [
          `every ${ordinal} ${day} ${month}`,
          `${ordinal} ${month} at 9`,
          `every month on ${ordinal} ${day}`,
        ])
          assert.equal(typeof readWhen(words, { zone, now }).ok, 'boolean', words);
});
