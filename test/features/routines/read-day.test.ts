import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cutTimeOfDay,
  ordinalOf,
  readDay,
  readTimeOfDay,
  timeAtNight,
  weekdayOf,
} from '../../../src/features/routines/read-day.ts';

/** Tuesday, 24 November 2026. */
const tuesday = { year: 2026, month: 11, day: 24 };

const written = ({ year, month, day }: typeof tuesday): string =>
  [year, String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-');
const days = (words: string, today = tuesday): readonly string[] | undefined =>
  readDay(words, today)?.days.map((each) => written(each));

test('U20 a time of day is read to the second', () => {
  const cases: Readonly<Record<string, string>> = {
    '0': '0:00',
    '9': '9:00',
    '23': '23:00',
    '9:30': '9:30',
    '09:05': '9:05',
    '9.15': '9:15',
    '21h30': '21:30',
    '23:59:59': '23:59:59',
    'at 9': '9:00',
    '@9': '9:00',
    '@ 9:15': '9:15',
    '9am': '9:00',
    '9 am': '9:00',
    '9 a.m.': '9:00',
    '9:30 a.m': '9:30',
    '1pm': '13:00',
    '5 p.m.': '17:00',
    '11:59:59 pm': '23:59:59',
    '12am': '0:00',
    '12:30am': '0:30',
    '12pm': '12:00',
    '12:30 pm': '12:30',
    "9 o'clock": '9:00',
    '9 o’clock': '9:00',
    '9oclock': '9:00',
    "9 o'clock in the evening": '21:00',
    '12 in the morning': '0:00',
    '9 in the morning': '9:00',
    '11 in the morning': '11:00',
    '12 in the afternoon': '12:00',
    '1 in the afternoon': '13:00',
    '5 in the afternoon': '17:00',
    '12 in the evening': '0:00',
    '1 in the evening': '13:00',
    '8 in the evening': '20:00',
    '12 at night': '0:00',
    '2 at night': '2:00',
    '4:59 at night': '4:59',
    '5 at night': '17:00',
    '9 at night': '21:00',
    morning: '9:00',
    'in the morning': '9:00',
    noon: '12:00',
    'at noon': '12:00',
    midday: '12:00',
    'at the midday': '12:00',
    lunchtime: '12:00',
    'the afternoon': '15:00',
    'in the evening': '18:00',
    'at night': '20:00',
    midnight: '0:00',
  };
  for (const [words, at] of Object.entries(cases)) {
    const [hour = 0, minute = 0, second = 0] = at.split(':').map(Number);
    assert.equal(readTimeOfDay(words), (hour * 60 + minute) * 60 + second, words);
  }
  for (const words of [
    '',
    '24',
    '24:00',
    '9:60',
    '9:30:60',
    '0am',
    '13am',
    '13 in the morning',
    '9:3',
    '9:305',
    '9x',
    'x9',
    '123',
    'at',
    'at9',
    '9:30:1',
    '9 xm',
    'a noon',
    'noon x',
    '9 in the night',
    'now',
  ])
    assert.equal(readTimeOfDay(words), undefined, words);
});

test('U20 a time after "tonight at" is in the evening, or in the small hours that follow', () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['8', '20:00', false],
    ['8:30pm', '20:30', false],
    ['5', '17:00', false],
    ['11:59', '23:59', false],
    ['20:00', '20:00', false],
    ['13:00', '13:00', false],
    ['14:30', '14:30', false],
    ['12', '0:00', true],
    ['12:30', '0:30', true],
    ['midnight', '0:00', true],
    ['1am', '1:00', true],
    ['4:59', '4:59', true],
  ];
  for (const [words, at, isEarly] of cases)
    assert.deepEqual(timeAtNight(readTimeOfDay(words) ?? -1), { time: readTimeOfDay(at), isEarly }, words);
});

test('U20 a text is cut into a day and a time, and a bare number is a time only as a last resort', () => {
  const at = (hour: number) => hour * 3_600;
  const cases: Readonly<Record<string, ReturnType<typeof cutTimeOfDay>>> = {
    monday: [{ day: 'monday' }],
    '': [{ day: '' }],
    'friday 17:00': [{ day: 'friday', time: at(17) }, { day: 'friday 17:00' }],
    'friday, 17:00': [{ day: 'friday', time: at(17) }, { day: 'friday, 17:00' }],
    '17:00, friday': [{ day: 'friday', time: at(17) }, { day: '17:00, friday' }],
    'dec 24, 2026, at 18:00': [
      { day: 'dec 24, 2026', time: at(18) },
      { day: 'dec 24, 2026, at', time: at(18) },
      { day: 'dec 24, 2026, at 18:00' },
    ],
    '10 december': [{ day: '10 december' }, { day: 'december', time: at(10) }],
    '9 december': [{ day: '9 december' }, { day: 'december', time: at(9) }],
    'december 9': [{ day: 'december 9' }, { day: 'december', time: at(9) }],
    "tomorrow at 9 o'clock in the evening": [
      { day: 'tomorrow', time: at(21) },
      { day: 'tomorrow at', time: at(21) },
      { day: "tomorrow at 9 o'clock", time: at(18) },
      { day: "tomorrow at 9 o'clock in", time: at(18) },
      { day: "tomorrow at 9 o'clock in the", time: at(18) },
      { day: "tomorrow at 9 o'clock in the evening" },
    ],
  };
  for (const [words, cuts] of Object.entries(cases)) {
    const found = cutTimeOfDay(words).map(({ day, time }) => (time === undefined ? { day } : { day, time }));
    assert.deepEqual(found, cuts, words);
  }
});

test('U20 names of weekdays and days of a month', () => {
  const names = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
  for (const [number, name] of names.entries())
    for (const word of [name, `${name}s`, name.slice(0, 3), `${name.slice(0, 3)}.`, name.slice(0, 4)])
      assert.equal(weekdayOf(word), number, word);
  for (const word of ['', 'mo', 's', 'day', 'mondayx', 'mont', 'xmonday', 'suns'])
    assert.equal(weekdayOf(word), undefined, word);
  const ordinals = {
    '1': 1,
    '1st': 1,
    '2nd': 2,
    '3rd': 3,
    '4th': 4,
    '05': 5,
    '9.': 9,
    '10': 10,
    '29th': 29,
    '31.': 31,
  };
  for (const [word, number] of Object.entries(ordinals)) assert.equal(ordinalOf(word), number, word);
  for (const word of ['', '0', '00', '32', '99th', '100', '1x', 'x1', '1stx', 'first', '1st.'])
    assert.equal(ordinalOf(word), undefined, word);
});

test('U20 days by name are the next such days of the calendar', () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    '': ['2026-11-24', '2026-11-25'],
    today: ['2026-11-24'],
    this: ['2026-11-24'],
    tonight: ['2026-11-24'],
    tomorrow: ['2026-11-25'],
    tmrw: ['2026-11-25'],
    'by tomorrow': ['2026-11-25'],
    'on tomorrow': ['2026-11-25'],
    'day after tomorrow': ['2026-11-26'],
    'the day after tomorrow': ['2026-11-26'],
    'by the day after tomorrow': ['2026-11-26'],
    overmorrow: ['2026-11-26'],
    'next week': ['2026-11-30'],
    'next month': ['2026-12-01'],
    'next year': ['2027-01-01'],
    tuesday: ['2026-11-24', '2026-12-01'],
    'on tuesday': ['2026-11-24', '2026-12-01'],
    'this tuesday': ['2026-11-24', '2026-12-01'],
    'next tuesday': ['2026-12-01', '2026-12-08'],
    'coming friday': ['2026-11-27', '2026-12-04'],
    'this coming friday': ['2026-11-27', '2026-12-04'],
    'thurs.': ['2026-11-26', '2026-12-03'],
    'next sunday': ['2026-11-29', '2026-12-06'],
    'monday next week': ['2026-11-30'],
    'wednesday next week': ['2026-12-02'],
    'sunday next week': ['2026-12-06'],
  };
  for (const [words, expected] of Object.entries(cases)) assert.deepEqual(days(words), expected, words);
  const others: readonly (readonly [string, string, readonly string[]])[] = [
    ['2026-11-29', 'next week', ['2026-11-30']],
    ['2026-11-29', 'sunday', ['2026-11-29', '2026-12-06']],
    ['2026-11-29', 'saturday next week', ['2026-12-05']],
    ['2026-11-30', 'next week', ['2026-12-07']],
    ['2026-11-30', 'monday next week', ['2026-12-07']],
    ['2026-12-31', 'tomorrow', ['2027-01-01']],
    ['2026-12-31', 'next month', ['2027-01-01']],
    ['2026-12-31', 'next year', ['2027-01-01']],
    ['2027-01-31', 'next month', ['2027-02-01']],
    ['2028-02-28', 'tomorrow', ['2028-02-29']],
    ['2027-02-28', 'tomorrow', ['2027-03-01']],
    ['2028-02-29', 'in a year', ['2029-02-28']],
    ['2027-01-31', 'in a month', ['2027-02-28']],
    ['2028-01-31', 'in a month', ['2028-02-29']],
  ];
  for (const [today, words, expected] of others) {
    const [year = 0, month = 0, day = 0] = today.split('-').map(Number);
    assert.deepEqual(days(words, { year, month, day }), expected, `${words} on ${today}`);
  }
  assert.equal(readDay('tonight', tuesday)?.time, 20 * 3_600);
});

test('U20 days are counted from today or from another day', () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    'in 3 days': ['2026-11-27'],
    'in a week': ['2026-12-01'],
    'in 2 months': ['2027-01-24'],
    '3 days from now': ['2026-11-27'],
    'in 3 days from now': ['2026-11-27'],
    '3 days from today': ['2026-11-27'],
    '3 days after today': ['2026-11-27'],
    '2 days after tomorrow': ['2026-11-27'],
    'the day after monday': ['2026-12-01', '2026-12-08'],
    'a week from monday': ['2026-12-07', '2026-12-14'],
    'a week from next week': ['2026-12-07'],
    'a month from 31 january 2027': ['2027-02-28'],
    'a day from the day after tomorrow': ['2026-11-27'],
  };
  for (const [words, expected] of Object.entries(cases)) assert.deepEqual(days(words), expected, words);
  for (const words of [
    '3 days',
    'in 3 hours',
    '3 hours from monday',
    'in monday',
    'monday from monday',
    'a week from never',
    'a week from',
    'within 3 days',
  ])
    assert.equal(days(words), undefined, words);
});

test('U20 dates are read in each usual order, and only if the order is certain', () => {
  const inYears = (date: string, first = 2026): readonly string[] =>
    Array.from({ length: 9 }, (_, n) => `${first + n}-${date}`);
  const cases: Readonly<Record<string, readonly string[]>> = {
    '2026-12-24': ['2026-12-24'],
    '2026/1/5': ['2026-01-05'],
    '24.12.': inYears('12-24'),
    '24.12': inYears('12-24'),
    '5.1.': inYears('01-05'),
    '24. 12.': inYears('12-24'),
    '24.12.2027': ['2027-12-24'],
    '24. 12. 2027': ['2027-12-24'],
    '24/12': inYears('12-24'),
    '12/24': inYears('12-24'),
    '13/1': inYears('01-13'),
    '1/13': inYears('01-13'),
    '20/12': inYears('12-20'),
    '24/12/2027': ['2027-12-24'],
    '12/24/2027': ['2027-12-24'],
    '24 december': inYears('12-24'),
    'december 24': inYears('12-24'),
    'dec. 24': inYears('12-24'),
    '24. december': inYears('12-24'),
    '24th of december': inYears('12-24'),
    'the 24th of december': inYears('12-24'),
    'december the 24th, 2027': ['2027-12-24'],
    '24 december 2027': ['2027-12-24'],
    '1 jan': inYears('01-01'),
    'sept 5': inYears('09-05'),
    'may 5': inYears('05-05'),
  };
  for (const [words, expected] of Object.entries(cases)) assert.deepEqual(days(words), expected, words);
  const months =
    '2026-11 2026-12 2027-01 2027-02 2027-03 2027-04 2027-05 2027-06 2027-07 2027-08 2027-09 2027-10';
  const fifteenth = months.split(' ').map((month) => `${month}-15`);
  for (const words of ['the 15th', '15th', 'on the 15th', '15.'])
    assert.deepEqual(days(words), fifteenth, words);
  for (const words of [
    '15',
    'the 15',
    '32nd',
    '0th',
    '12/12',
    '05/06',
    '12/11',
    '11/12',
    '13/1/27',
    '1/13/27',
    '24.12.27',
    '24.12.20277',
    '2026-12-24-1',
    'x2026-12-24',
    'x24.12.',
    'x24/12',
    '24/12/2027x',
    'x12/24',
    '12/24/2027x',
    '24.12.2027x',
    '24 december 27',
    '24 december 20270',
    '24 december x2027',
    '24 december 2027 x',
    '15th x',
    'december',
    'december 32',
    '24 foo',
    'foo',
    'next foo',
    'tuesday x',
    'x tuesday',
    'tuesday next weeks',
  ])
    assert.equal(days(words), undefined, words);
});
