import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSpan } from '../../../src/features/routines/read-span.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

type Parts = Partial<NonNullable<ReturnType<typeof readSpan>>>;

test('U20 each name of a unit is a length of time', () => {
  const units: readonly (readonly [string, Parts])[] = [
    ['s sec secs second seconds', { ms: second }],
    ['m min mins minute minutes', { ms: minute }],
    ['h hr hrs hour hours', { ms: hour }],
    ['d day days', { days: 1 }],
    ['w wk wks week weeks', { days: 7 }],
    ['fortnight fortnights', { days: 14 }],
    ['mo mos mth mths month months', { months: 1 }],
    ['quarter quarters', { months: 3 }],
    ['y yr yrs year years', { months: 12 }],
  ];
  for (const [names, { ms = 0, days = 0, months = 0 }] of units)
    for (const name of names.split(' ')) {
      assert.deepEqual(readSpan(`1 ${name}`), { ms, days, months }, name);
      assert.deepEqual(readSpan(`2${name}`), { ms: 2 * ms, days: 2 * days, months: 2 * months }, name);
      assert.equal(readSpan(`1 ${name}x`), undefined, name);
      assert.equal(readSpan(`1 x${name}`), undefined, name);
    }
});

test('U20 numbers are read as figures and as words', () => {
  const words = ['zero one two three four five six seven eight nine ten eleven twelve', 'fifteen'].join(' ');
  const counts = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15];
  const others: Readonly<Record<string, number>> = {
    a: 1,
    an: 1,
    the: 1,
    twenty: 20,
    thirty: 30,
    forty: 40,
    'forty-five': 45,
    fifty: 50,
    sixty: 60,
    ninety: 90,
    half: 0.5,
    'half a': 0.5,
    'half an': 0.5,
    couple: 2,
    'a couple of': 2,
    pair: 2,
    'a pair of': 2,
    'a few': 3,
    'a dozen': 12,
    '999999': 999_999,
    '0.25': 0.25,
    '1.125': 1.125,
  };
  for (const [word, count] of [
    ...words.split(' ').map((each, n) => [each, counts[n] ?? 0] as const),
    ...Object.entries(others),
  ])
    assert.deepEqual(
      readSpan(`${word} minutes`),
      count === 0 ? undefined : { ms: count * minute, days: 0, months: 0 },
      word,
    );
});

test('U20 lengths of time are added up', () => {
  const cases: Readonly<Record<string, Parts>> = {
    '2h30m': { ms: 2.5 * hour },
    '2h 30m': { ms: 2.5 * hour },
    '1 hour, 5 minutes': { ms: 65 * minute },
    '1 hour,5 minutes': { ms: 65 * minute },
    '1 hour, and 5 minutes': { ms: 65 * minute },
    '1 hour and 5 minutes and 3 seconds': { ms: 65 * minute + 3 * second },
    'an hour and a half': { ms: 90 * minute },
    '2 and a half hours': { ms: 150 * minute },
    '1.5 hours': { ms: 90 * minute },
    '0.0005 seconds': {},
    '1.001 seconds': { ms: 1_001 },
    '2 days and 3 hours': { days: 2, ms: 3 * hour },
    '1 month, 2 weeks and 3 days': { months: 1, days: 17 },
    '2 years and 1 quarter': { months: 27 },
    'half a day': { ms: 12 * hour },
    'a day and a half': { ms: 36 * hour },
    'half a week': { ms: 84 * hour },
    'a month and half a day': { months: 1, ms: 12 * hour },
    'half a year': { months: 6 },
    'a year and a half': { months: 18 },
    pt20m: { ms: 20 * minute },
    pt1h: { ms: hour },
    pt12h: { ms: 12 * hour },
    pt90s: { ms: 90 * second },
    pt1h30m15s: { ms: 90 * minute + 15 * second },
    p1d: { days: 1 },
    p12d: { days: 12 },
    p1w: { days: 7 },
    p10w: { days: 70 },
    p1w2d: { days: 9 },
    p1m: { months: 1 },
    p18m: { months: 18 },
    p1y: { months: 12 },
    p10y: { months: 120 },
    p1y2m3w4dt5h6m7s: { months: 14, days: 25, ms: 5 * hour + 6 * minute + 7 * second },
  };
  for (const [words, parts] of Object.entries(cases))
    assert.deepEqual(
      readSpan(words),
      Object.keys(parts).length === 0 ? undefined : { ms: 0, days: 0, months: 0, ...parts },
      words,
    );
});

test('N2 what is no length of time is not read as one', () => {
  for (const words of [
    '',
    '5',
    'minutes',
    'soon',
    'x5 minutes',
    '5 minutes x',
    '5 minutes 3',
    '1234567 minutes',
    '0 minutes',
    'zero hours and 0 days',
    '1.5 months',
    'half a month',
    'a quarter and a half',
    'anhour',
    'p',
    'pt',
    'pt0s',
    'xp1d',
    'p1dx',
    'p1h',
  ])
    assert.equal(readSpan(words), undefined, words);
});
