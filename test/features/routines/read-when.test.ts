import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextTime, nextTimes } from '../../../src/features/routines/due-times.ts';
import { readWhen } from '../../../src/features/routines/read-when.ts';

const now = Date.parse('2026-11-24T11:30:00Z');
const zone = 'Europe/Berlin';

test('N2 times are read as people write them', () => {
  const cases: Readonly<Record<string, string>> = {
    '2026-12-24T18:00': '2026-12-24T17:00',
    '2026-12-24 18:00': '2026-12-24T17:00',
    '2026-12-24T18:00:00Z': '2026-12-24T18:00',
    '2026-12-24T18:00-05:00': '2026-12-24T23:00',
    'in 20 minutes': '2026-11-24T11:50',
    'In 1h 30m': '2026-11-24T13:00',
    'in an hour and 5 minutes': '2026-11-24T12:35',
    'in half an hour': '2026-11-24T12:00',
    'in 2 days': '2026-11-26T11:30',
    'in 20 weeks': '2027-04-13T10:30',
    'every 2 hours': '2026-11-24T13:30',
    'every hour': '2026-11-24T12:30',
    'every monday at 9:00': '2026-11-30T08:00',
    'every weekday at 8:30': '2026-11-25T07:30',
    'every day at 12': '2026-11-25T11:00',
    '0 9 * * 1-5': '2026-11-25T08:00',
    '@daily': '2026-11-24T23:00',
  };
  for (const [words, at] of Object.entries(cases)) {
    const read = readWhen(words, { zone, now });
    assert.ok(read.ok, `${words}: ${JSON.stringify(read)}`);
    assert.equal(new Date(nextTime(read.when, zone, now) ?? 0).toISOString().slice(0, 16), at, words);
  }
});

test('N2 what can’t be read says what was found and how to write it', () => {
  const cases: Readonly<Record<string, RegExp>> = {
    '2026-11-24T12:29': /in the past: it is 2026-11-24T11:30Z now/,
    '2026-11-24': /in the past/,
    'tomorrow at 25:00': /is no time/,
    '13pm': /is no time/,
    '2026-02-30T09:00': /no time that exists/,
    '2026-12-24T25:00': /no time that exists/,
    '2026-12-24T18:00+99:00': /no time that exists/,
    '2099-01-01T09:00': /more than ten years away/,
    soon: /is no time\. Write a time \("2026-12-24T18:00", "tomorrow at 9:00"\)/,
    'in a while': /no time from now/,
    'in 0 minutes': /no time from now/,
    'every monday to': /no interval/,
    'every day at 25': /no interval/,
    'every weekday at 9 and 17:30': /one routine for each/,
    'every 31 june at 9': /never comes/,
    'tomorrow at 9:00 Mars/Base': /"Mars\/Base" is no time zone/,
    'CRON_TZ=Mars/Base 0 9 * * *': /"Mars\/Base" is no time zone/,
    'every fortnight or so': /no interval/,
    '61 9 * * *': /no cron expression: Invalid value for minute: 61/,
    '0 9 30 2 *': /never comes/,
    '* 0 9 * * *': /begins with the seconds/,
    '0 0 9 * * * 2027': /has 7 fields/,
    '@reboot': /no cron expression/,
    '': /is no time/,
    [`0 9 * * ${'1,'.repeat(80)}`]: /longer than 100 characters/,
  };
  for (const [words, expected] of Object.entries(cases)) {
    const read = readWhen(words, { zone, now });
    assert.ok(!read.ok, words);
    assert.match(read.problem, expected, words);
  }
});

/** Each means this next time by the clocks in Berlin, where it is Tuesday, 24 November, 12:30. */
const everyday: Readonly<Record<string, string>> = {
  'in 2h30m': '2026-11-24 15:00:00',
  'in 1.5 hours': '2026-11-24 14:00:00',
  'in 90 seconds': '2026-11-24 12:31:30',
  'in 30 seconds': '2026-11-24 12:30:30',
  'in an hour and a half': '2026-11-24 14:00:00',
  'in a couple of hours': '2026-11-24 14:30:00',
  '20 minutes from now': '2026-11-24 12:50:00',
  '45m': '2026-11-24 13:15:00',
  PT20M: '2026-11-24 12:50:00',
  'in 1 month': '2026-12-24 12:30:00',
  'in a fortnight': '2026-12-08 12:30:00',
  'in 3 days at 9am': '2026-11-27 09:00:00',
  'a week from monday': '2026-12-07 09:00:00',
  '9am': '2026-11-25 09:00:00',
  '14:30': '2026-11-24 14:30:00',
  noon: '2026-11-25 12:00:00',
  '9 in the evening': '2026-11-24 21:00:00',
  'tomorrow at 9:00': '2026-11-25 09:00:00',
  'tomorrow, 9:00': '2026-11-25 09:00:00',
  '9am tomorrow': '2026-11-25 09:00:00',
  'tomorrow morning': '2026-11-25 09:00:00',
  'tonight at 8': '2026-11-24 20:00:00',
  'day after tomorrow at 10': '2026-11-26 10:00:00',
  'next Monday': '2026-11-30 09:00:00',
  'Tuesday at 9': '2026-12-01 09:00:00',
  'tuesday at 14:00': '2026-11-24 14:00:00',
  'next tuesday at 14:00': '2026-12-01 14:00:00',
  'friday 17:00': '2026-11-27 17:00:00',
  '24 December at 18:00': '2026-12-24 18:00:00',
  'Dec 24th, 2026 at 6pm': '2026-12-24 18:00:00',
  '24.12. 18:00': '2026-12-24 18:00:00',
  'the 15th at 9': '2026-12-15 09:00:00',
  '29 february at 9': '2028-02-29 09:00:00',
  '2026-12-24': '2026-12-24 09:00:00',
  '2026-12-24T18:00+0100': '2026-12-24 18:00:00',
  '2026-12-24T18:00:15Z': '2026-12-24 19:00:15',
  '9am UTC': '2026-11-25 10:00:00',
  'tomorrow at 9:00 America/New_York': '2026-11-25 15:00:00',
  'every 90 minutes': '2026-11-24 14:00:00',
  hourly: '2026-11-24 13:30:00',
  'every day at 9am': '2026-11-25 09:00:00',
  'daily at 17:00': '2026-11-24 17:00:00',
  'at 9 every day': '2026-11-25 09:00:00',
  'every day at 9 and 17': '2026-11-24 17:00:00',
  'every morning': '2026-11-25 09:00:00',
  'weekdays at 8': '2026-11-25 08:00:00',
  'every weekend at 10': '2026-11-28 10:00:00',
  'every mon, wed, fri at 9': '2026-11-25 09:00:00',
  'mondays and thursdays at 9': '2026-11-26 09:00:00',
  'Monday to Friday at 9:00': '2026-11-25 09:00:00',
  'every 2 weeks': '2026-12-08 12:30:00',
  'every two weeks on monday at 9': '2026-11-30 09:00:00',
  'every other Tuesday at 14:30': '2026-11-24 14:30:00',
  'every other day at 8': '2026-11-25 08:00:00',
  'every 3 days': '2026-11-27 12:30:00',
  'monthly on the 1st at 9': '2026-12-01 09:00:00',
  'last friday of the month at 16:00': '2026-11-27 16:00:00',
  'first monday of every month at 9': '2026-12-07 09:00:00',
  quarterly: '2027-02-24 12:30:00',
  'every year on December 24': '2026-12-24 09:00:00',
  '0 0 9 * * *': '2026-11-25 09:00:00',
  '30 0 9 ? * MON-FRI': '2026-11-25 09:00:30',
  'CRON_TZ=America/New_York 0 9 * * *': '2026-11-24 15:00:00',
};

test('U20 times are read in the ways that people say them', () => {
  for (const [words, at] of Object.entries(everyday)) {
    const read = readWhen(words, { zone, now });
    assert.ok(read.ok, `${words}: ${JSON.stringify(read)}`);
    const next = nextTime(read.when, read.zone ?? zone, now);
    assert.equal(new Date(next ?? 0).toLocaleString('sv', { timeZone: zone }), at, words);
  }
});

test('U20 every other Tuesday and the like come at their pace', () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    'every 2 weeks': ['12-08', '12-22', '01-05'],
    'every other Tuesday at 14:30': ['11-24', '12-08', '12-22'],
    'every third thursday': ['11-26', '12-17', '01-07'],
    'every 2 months on the 15th at 9': ['12-15', '02-15', '04-15'],
    'every other week on tuesday': ['12-01', '12-15', '12-29'],
  };
  for (const [words, days] of Object.entries(cases)) {
    const read = readWhen(words, { zone, now });
    assert.ok(read.ok, words);
    const next = nextTimes(read.when, zone, now, 3).map((at) =>
      new Date(at).toLocaleDateString('sv', { timeZone: zone }).slice(5),
    );
    assert.deepEqual(next, days, words);
  }
});

test('U20 seconds count, and what is less than a millisecond rounds up', () => {
  const at = Date.parse('2026-11-28T04:01:05Z');
  const due = (when: string): number | undefined => {
    const read = readWhen(when, { zone: 'UTC', now: at });
    return read.ok && read.when.kind === 'once' ? read.when.at - at : undefined;
  };
  assert.equal(due('2026-11-28T04:01:15Z'), 10_000);
  assert.equal(due('2026-11-28T04:02:30Z'), 85_000);
  assert.equal(due('2026-11-28T04:01:05.0001Z'), 1);
  assert.equal(due('2026-11-28T05:01:15+01:00'), 10_000);
  assert.equal(due('in 2 days'), 2 * 24 * 3_600_000);
  assert.equal(due('in 1.0001 seconds'), undefined, 'three decimals are enough');
  assert.equal(due('2026-11-28T04:01:05Z'), undefined, 'now is over');
});

test('U20 only times by the clock need a zone', () => {
  const needs = (when: string): boolean | undefined => {
    const read = readWhen(when, { zone, now });
    return read.ok ? read.byClock && read.zone === undefined : undefined;
  };
  for (const when of [
    'in 20 minutes',
    'in 2 days',
    'every 2 hours',
    'every 2 weeks',
    '2026-12-24T18:00Z',
    '2026-12-24T18:00+01:00',
    '9am UTC',
  ])
    assert.equal(needs(when), false, when);
  for (const when of [
    '2026-12-24T18:00',
    'tomorrow at 9',
    '9am',
    'every day',
    '0 9 * * *',
    'every other tuesday',
  ])
    assert.equal(needs(when), true, when);
});
