import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextTime } from '../../src/routines/due-times.ts';
import { readWhen } from '../../src/routines/read-when.ts';

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
    '2026-11-24': /no time of day\. Write "2026-11-24T09:00"/,
    '2026-02-30T09:00': /no time that exists/,
    '2026-12-24T25:00': /no time that exists/,
    '2026-12-24T18:00+99:00': /no time that exists/,
    '2099-01-01T09:00': /more than ten years away/,
    'tomorrow morning': /is no time\. Write a time \("2026-12-24T18:00"\)/,
    'in a while': /no time from now/,
    'in 0 minutes': /no time from now/,
    'every monday': /Write "every monday at 9:00"/,
    'every 3 days': /cron expression/,
    'every fortnight or so': /no interval/,
    '61 9 * * *': /no cron expression: Invalid value for minute: 61/,
    '0 9 30 2 *': /never comes/,
    '0 0 9 * * *': /is no time/,
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
