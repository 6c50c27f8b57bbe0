import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEvery } from '../../../src/features/routines/read-every.ts';

const zone = 'Europe/Berlin';
/** Tuesday, 24 November 2026, 12:30:15 in Berlin. */
const now = Date.parse('2026-11-24T11:30:15Z');

const read = (words: string) => readEvery(words, { zone, now });

test('U20 fixed times of the calendar are a cron expression', () => {
  const cases: Readonly<Record<string, string>> = {
    'every day': '0 9 * * *',
    'every day at 9': '0 9 * * *',
    'each day at 9:30': '30 9 * * *',
    'daily at 17:05:30': '30 5 17 * * *',
    'every day, 9:00': '0 9 * * *',
    nightly: '0 20 * * *',
    'every morning': '0 9 * * *',
    'every noon': '0 12 * * *',
    'every afternoon': '0 15 * * *',
    'every evening': '0 18 * * *',
    'every night': '0 20 * * *',
    'every midnight': '0 0 * * *',
    'every day at 9, 12 and 17': '0 9,12,17 * * *',
    'every day at 9,12 and 17': '0 9,12,17 * * *',
    'every day at 9, 12, and 17': '0 9,12,17 * * *',
    'every day at 9:15:30 and 12:15:30': '30 15 9,12 * * *',
    'at 9 every day': '0 9 * * *',
    '9am and 5pm every day': '0 9,17 * * *',
    '9 every monday': '0 9 * * 1',
    '9am on mondays': '0 9 * * 1',
    '9:00, every monday': '0 9 * * 1',
    'every monday, 9:00': '0 9 * * 1',
    'every monday at noon': '0 12 * * 1',
    'every monday morning': '0 9 * * 1',
    mondays: '0 9 * * 1',
    'on mondays': '0 9 * * 1',
    'on mondays at 10': '0 10 * * 1',
    'on every monday': '0 9 * * 1',
    'each monday': '0 9 * * 1',
    'every each monday': '0 9 * * 1',
    'every sunday': '0 9 * * 0',
    'every mon and fri': '0 9 * * 1,5',
    'every mon & fri': '0 9 * * 1,5',
    'mondays&fridays': '0 9 * * 1,5',
    'every monday, friday, 9:00': '0 9 * * 1,5',
    'mondays, wednesdays and fridays at 8': '0 8 * * 1,3,5',
    'mondays, wednesdays, and fridays': '0 9 * * 1,3,5',
    'mondays,fridays': '0 9 * * 1,5',
    '8:00 on mondays and fridays': '0 8 * * 1,5',
    'every monday and friday at 9 and 17': '0 9,17 * * 1,5',
    'monday to friday': '0 9 * * 1-5',
    'on monday to friday at 8': '0 8 * * 1-5',
    'mon-fri 8': '0 8 * * 1-5',
    'mon - fri at 8': '0 8 * * 1-5',
    'mon–fri at 8': '0 8 * * 1-5',
    'monday through friday at 8': '0 8 * * 1-5',
    'monday until friday at 8': '0 8 * * 1-5',
    'mon-wed and fri at 8': '0 8 * * 1-3,5',
    'fri to mon at 8': '0 8 * * 5-6,0-1',
    'sat-sun': '0 9 * * 6-6,0-0',
    'mon-mon': '0 9 * * 1-1',
    weekdays: '0 9 * * 1-5',
    'every weekday at 8': '0 8 * * 1-5',
    'on weekdays': '0 9 * * 1-5',
    '8:00 on weekdays': '0 8 * * 1-5',
    'every workday': '0 9 * * 1-5',
    'every working day': '0 9 * * 1-5',
    workingdays: '0 9 * * 1-5',
    'every business day': '0 9 * * 1-5',
    'every businessday': '0 9 * * 1-5',
    weekends: '0 9 * * 0,6',
    'every weekend at 10': '0 10 * * 0,6',
    '10:00 on weekends': '0 10 * * 0,6',
    'weekly on friday at 16:00': '0 16 * * 5',
    'every week on monday and friday': '0 9 * * 1,5',
    'every day on weekends': '0 9 * * 0,6',
    'every month on the 15th': '0 9 15 * *',
    'every month on 15': '0 9 15 * *',
    'monthly on the last day at 18:00': '0 18 L * *',
    'every month on the last': '0 9 L * *',
    'every month on the first monday': '0 9 * * 1#1',
    'monthly on the last friday': '0 9 * * 5L',
    'last day of the month': '0 9 L * *',
    'last of the month': '0 9 L * *',
    'every last day of month': '0 9 L * *',
    'last friday of a month at 16:00': '0 16 * * 5L',
    '15th day of each month': '0 9 15 * *',
    'the 15th of every month at 10': '0 10 15 * *',
    'on the 15th of every month': '0 9 15 * *',
    'first of the month': '0 9 1 * *',
    'second monday of the month': '0 9 * * 1#2',
    'every third thursday of each month': '0 9 * * 4#3',
    'fourth sunday of the month': '0 9 * * 0#4',
    'fifth friday of the month': '0 9 * * 5#5',
    '5th friday of the month': '0 9 * * 5#5',
    '31st of the month': '0 9 31 * *',
    'every 24 december': '0 9 24 12 *',
    'every december 24 at 18:00': '0 18 24 12 *',
    'every 24th of december': '0 9 24 12 *',
    'every year on the 24th of december at 18:00': '0 18 24 12 *',
    'yearly on 29 february': '0 9 29 2 *',
    'annually on 1 january': '0 9 1 1 *',
  };
  for (const [words, expression] of Object.entries(cases))
    assert.deepEqual(read(words), { ok: true, when: { kind: 'cron', expression }, byClock: true }, words);
});

test('U20 intervals count from now', () => {
  const minute = 60_000;
  const cases: Readonly<Record<string, number>> = {
    'every second': 1_000,
    'every minute': minute,
    hourly: 60 * minute,
    'every hour': 60 * minute,
    'every half hour': 30 * minute,
    'every half an hour': 30 * minute,
    'every hour and a half': 90 * minute,
    'every 90 seconds': 90_000,
    'every 1.5 days': 36 * 60 * minute,
    'every 12 hours': 720 * minute,
    'every 2 hours and 30 minutes': 150 * minute,
    'every other hour': 120 * minute,
  };
  for (const [words, ms] of Object.entries(cases))
    assert.deepEqual(
      read(words),
      { ok: true, when: { kind: 'every', ms, from: now }, byClock: false },
      words,
    );
});

test('U20 steps of days and months begin now, or on the first day that is named and still to come', () => {
  const steps = (unit: 'day' | 'month', count: number) => ({ kind: 'steps', unit, count }) as const;
  const fromNow: Readonly<Record<string, ReturnType<typeof steps>>> = {
    'every 3 days': steps('day', 3),
    'every other day': steps('day', 2),
    'every second day': steps('day', 2),
    'every 2nd day': steps('day', 2),
    'every third day': steps('day', 3),
    'every 3rd day': steps('day', 3),
    weekly: steps('day', 7),
    'every 2 weeks': steps('day', 14),
    'every other week': steps('day', 14),
    'every 3rd week': steps('day', 21),
    fortnightly: steps('day', 14),
    biweekly: steps('day', 14),
    'bi-weekly': steps('day', 14),
    'every fortnight': steps('day', 14),
    monthly: steps('month', 1),
    'every 2 months': steps('month', 2),
    quarterly: steps('month', 3),
    'every year': steps('month', 12),
    yearly: steps('month', 12),
    annually: steps('month', 12),
  };
  for (const [words, when] of Object.entries(fromNow))
    assert.deepEqual(
      read(words),
      { ok: true, when: { ...when, from: now, clock: (12 * 60 + 30) * 60 + 15 }, byClock: false },
      words,
    );
  // The first time, in Berlin, where it is winter: UTC+1.
  const named: Readonly<Record<string, readonly [ReturnType<typeof steps>, string]>> = {
    'every 2 days at 9': [steps('day', 2), '2026-11-25T09:00'],
    'every 2 days at 14:00': [steps('day', 2), '2026-11-24T14:00'],
    'every 2 days at 12:30:15': [steps('day', 2), '2026-11-25T12:30:15'],
    'at 9 every 2 days': [steps('day', 2), '2026-11-25T09:00'],
    'every week at 9': [steps('day', 7), '2026-11-25T09:00'],
    'every other friday': [steps('day', 14), '2026-11-27T09:00'],
    'every 3rd friday at 10': [steps('day', 21), '2026-11-27T10:00'],
    'every other tuesday at 9': [steps('day', 14), '2026-12-01T09:00'],
    'every other tuesday at 14:30': [steps('day', 14), '2026-11-24T14:30'],
    'every second week on friday': [steps('day', 14), '2026-11-27T09:00'],
    'every 2 weeks on monday at 10': [steps('day', 14), '2026-11-30T10:00'],
    'every fortnight on monday': [steps('day', 14), '2026-11-30T09:00'],
    'every 6 months on the 1st': [steps('month', 6), '2026-12-01T09:00'],
    'every 2 months on 15 at 10': [steps('month', 2), '2026-12-15T10:00'],
    'every other month on the 31st': [steps('month', 2), '2026-12-31T09:00'],
    'quarterly on the 1st at 10': [steps('month', 3), '2026-12-01T10:00'],
    'every 2 years on 1 january': [steps('month', 24), '2027-01-01T09:00'],
    'every 4 years on 29 february': [steps('month', 48), '2028-02-29T09:00'],
  };
  for (const [words, [when, first]] of Object.entries(named)) {
    const clock = first
      .slice(11)
      .split(':')
      .reduce((sum, part, n) => sum + Number(part) * 60 ** (2 - n), 0);
    const from = Date.parse(`${first}+01:00`);
    assert.deepEqual(read(words), { ok: true, when: { ...when, from, clock }, byClock: true }, words);
  }
});

test('N2 what does not repeat is no interval, and what only looks like one is refused', () => {
  for (const words of [
    '',
    'monday',
    'tomorrow at 9',
    'monday at 9',
    'everyone',
    'in 2 days',
    '2days',
    'monday and friday',
    'monday - never',
    'the month',
    'only weekend',
  ])
    assert.equal(read(words), undefined, words);
  for (const words of [
    'every',
    'every foo',
    'every 9',
    'every day at',
    'every day at 25',
    'every day at 9 and 25',
    'every monday to',
    'every monday and foo',
    'every monday to foo',
    'every foo to monday',
    'every 2 hours at 9',
    'every 2 hours on monday',
    'every hour on monday at 9',
    'every 2 days at 9 and 17',
    'every day and 3 hours',
    'every month and 2 days',
    'every 1.5 months',
    'every 2 weeks on foo',
    'every 2 weeks on 32',
    'every other friday on the 15th',
    'every other foo',
    'every other friday at 9 and 17',
    'every night at 9',
    'every december',
    'every december 24 2027',
    'every december 32',
    'every 24 foo',
    'every 15th',
    'every year on 2027',
    'foo of the month',
    'last foo of the month',
    'first foo of the month',
    'last friday evening of the month',
    'sixth friday of the month',
    '6th friday of the month',
    '0th of the month',
    '32nd of the month',
    'every month on the 40th',
    'xmondays and foo every',
    'mondayss every day',
    'every week day',
    'every weekendx',
    'every xweekday',
    'every weekdaysx',
    'every xweekend',
  ])
    assert.deepEqual(read(words), { ok: false, problem: 'is no interval' }, words);
  for (const words of ['every day at 9:00 and 10:30', 'mondays at 9:15 and 9:15:01'])
    assert.match(JSON.stringify(read(words)), /^\{"ok":false,"problem":"names several times/, words);
});
