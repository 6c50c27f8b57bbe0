import type { RoutineTime } from '../store/routines.ts';
import { localDate, timeInZone, type LocalDate } from './due-times.ts';
import {
  cutTimeOfDay,
  monthOf,
  ordinalOf,
  readDay,
  readTimeOfDay,
  usualTime,
  weekdayOf,
} from './read-day.ts';
import { readSpan, type Span } from './read-span.ts';

export type ReadEvery = Readonly<
  { ok: true; when: RoutineTime; byClock: boolean } | { ok: false; problem: string }
>;

type Days = Readonly<{ zone: string; now: number }>;

const daily =
  /\b(every|each|hourly|daily|nightly|weekly|fortnightly|biweekly|bi-weekly|monthly|quarterly|yearly|annually)\b|\bof the month\b/;
const plural =
  /^(?:on\s+)?(?:\w+days|weekends|(?:\w+days,?\s+(?:and\s+)?)+\w+days)\b|\bon (?:\w+days|weekends)$/;
const range = /^(?:on\s+)?[a-z]{3,9}\s*(?:-|–|to|through|until)\s*[a-z]{3,9}\b/;
const lengths: Readonly<Record<string, string>> = {
  hourly: 'every hour',
  daily: 'every day',
  nightly: 'every night',
  weekly: 'every week',
  fortnightly: 'every 2 weeks',
  biweekly: 'every 2 weeks',
  'bi-weekly': 'every 2 weeks',
  monthly: 'every month',
  quarterly: 'every quarter',
  yearly: 'every year',
  annually: 'every year',
};

/**
 * Reads words for times that repeat, in lower case, such as "every 2 weeks", "weekdays at 8" or "last friday of the
 * month at 16:00". Undefined: nothing repeats.
 */
export function readEvery(words: string, of: Days): ReadEvery | undefined {
  const isRange = range.test(words) && weekdaysOf(cutTimeOfDay(words)[0]?.day ?? '') !== undefined;
  if (!daily.test(words) && !plural.test(words) && !isRange) return undefined;
  const plain = words
    .replace(new RegExp(daily, 'g'), (word) => lengths[word] ?? (word === 'each' ? 'every' : word))
    .replace(/\bevery (?=every\b)/g, '');
  const [, times = '', rest = plain] = /^(.*?)\s*(\b(?:every|on)\b.*)$/.exec(plain) ?? [];
  // The time may come first, as in "9am every monday". In "first monday of every month" it does not.
  const time = timesOf(times);
  const turned = time === undefined ? plain : `${rest} at ${times.replace(/^at\s+/, '')}`;
  for (const { day, times: at } of cutTimes(turned)) {
    const body = day.replace(/^(?:every|on)\s+/, '').replace(/^every\s+/, '');
    const read = readBody(body, at, of);
    if (read !== undefined) return read;
  }
  return { ok: false, problem: 'is no interval' };
}

/** Splits words into day and times. A list such as "9:00, 12:00 and 17:00" may be at the end. */
function cutTimes(words: string): readonly Readonly<{ day: string; times: readonly number[] | undefined }>[] {
  const [, day, list] = /^(.*?)\s+at\s+(.+)$/.exec(words) ?? [];
  const several = list === undefined ? undefined : timesOf(list);
  if (day !== undefined && several !== undefined) return [{ day, times: several }];
  return cutTimeOfDay(words).map(({ day: cut, time }) => ({
    day: cut,
    times: time === undefined ? undefined : [time],
  }));
}

function timesOf(list: string): readonly number[] | undefined {
  const times = list.split(/\s*,\s*(?:and\s+)?|\s+and\s+/).map((each) => readTimeOfDay(each));
  return times.every((time) => time !== undefined) ? times : undefined;
}

function readBody(body: string, times: readonly number[] | undefined, of: Days): ReadEvery | undefined {
  if (/^(?:morning|noon|afternoon|evening|night)s?$/.test(body) && times === undefined)
    return cron(readTimeOfDay(body.replace(/s$/, '')) ?? usualTime, '* * *');
  const on = /^(.+?)\s+(?:on|,)\s*(?:the\s+)?(.+)$/.exec(body);
  const fields =
    on === null || !/^(?:day|week|month|year)$/.test(on[1] ?? '')
      ? fieldsOf(body)
      : fieldsOf(on[2] ?? '', on[1]);
  if (fields !== undefined) return crons(times ?? [usualTime], fields);
  const start = on?.[2];
  const [, before, what = ''] = /^(other|second|2nd|third|3rd)\s+(.+)$/.exec(on?.[1] ?? body) ?? [];
  const count = before === undefined ? 1 : /^(?:third|3rd)$/.test(before) ? 3 : 2;
  if (before !== undefined && on === null && weekdayOf(what) !== undefined)
    return steps({ ms: 0, days: 7 * count, months: 0 }, what, times, of);
  const length = before === undefined ? (on?.[1] ?? body) : what;
  const span = readSpan(isUnit.test(length) ? `${count} ${length}` : length);
  if (span === undefined) return undefined;
  if (span.days === 0 && span.months === 0)
    return times === undefined && on === null
      ? { ok: true, when: { kind: 'every', ms: span.ms, from: of.now }, byClock: false }
      : undefined;
  return span.ms > 0 ? undefined : steps(span, start, times, of);
}

const isUnit = /^(?:second|minute|hour|day|week|month|quarter|year|fortnight)s?$/;

/** Steps that begin now, or on the next day and time that the words name. */
function steps(
  span: Span,
  start: string | undefined,
  times: readonly number[] | undefined,
  of: Days,
): ReadEvery | undefined {
  const [unit, count] = span.months > 0 ? (['month', span.months] as const) : (['day', span.days] as const);
  if (span.months > 0 && span.days > 0) return undefined;
  if (times !== undefined && times.length > 1) return undefined;
  const today = localDate(of.now, of.zone);
  if (start === undefined && times === undefined) {
    const when = { kind: 'steps', unit, count, from: of.now, clock: today.clock } as const;
    return { ok: true, when, byClock: false };
  }
  const clock = times?.[0] ?? usualTime;
  const days = readDay(start ?? '', today)?.days ?? dayOfMonth(start, today);
  const from = days
    ?.map((each) => timeInZone({ ...each, clock }, of.zone))
    .find((at) => at !== undefined && at > of.now);
  if (from === undefined) return undefined;
  return { ok: true, when: { kind: 'steps', unit, count, from, clock }, byClock: true };
}

function dayOfMonth(words: string | undefined, today: LocalDate): readonly LocalDate[] | undefined {
  const day = ordinalOf(words ?? '');
  return day === undefined ? undefined : readDay(`${day}th`, today)?.days;
}

const ordinals: Readonly<Record<string, number>> = { first: 1, second: 2, third: 3, fourth: 4, fifth: 5 };
const ofMonth = /\s+(?:day\s+)?of\s+(?:the\s+|every\s+|each\s+|a\s+)?month$/;

/**
 * Day, month and weekday of a cron expression. `unit` is what "on" belongs to. Undefined: the words mean no such days.
 */
function fieldsOf(words: string, unit?: string): string | undefined {
  if (unit === 'month' || ofMonth.test(words))
    return inMonth(words.replace(ofMonth, '').replace(/^the\s+/, ''));
  if (words === 'day' || words === 'days') return '* * *';
  const weekdays = weekdaysOf(words);
  if (weekdays !== undefined) return `* * ${weekdays}`;
  const [first = '', second = '', ...more] = words
    .replace(/\b(?:the|of)\b/g, ' ')
    .trim()
    .split(/\s+/);
  const month = monthOf(first) ?? monthOf(second);
  const day = ordinalOf(monthOf(first) === undefined ? first : second);
  return month === undefined || day === undefined || more.length > 0 ? undefined : `${day} ${month} *`;
}

/** Reads words within a month, such as "15th", "last day", "first monday" or "last friday". */
function inMonth(words: string): string | undefined {
  const [which = '', day = ''] = words.split(/\s+/);
  if (which === 'last') {
    const weekday = weekdayOf(day);
    return weekday === undefined ? (day === '' || day === 'day' ? 'L * *' : undefined) : `* * ${weekday}L`;
  }
  const number = ordinals[which] ?? ordinalOf(which);
  if (number === undefined) return undefined;
  const weekday = weekdayOf(day);
  return weekday === undefined
    ? day === '' || day === 'day'
      ? `${number} * *`
      : undefined
    : `* * ${weekday}#${number}`;
}

/** Reads weekdays, such as "mon-fri", "mondays and thursdays" or "weekdays". */
function weekdaysOf(words: string): string | undefined {
  if (/^(?:week|work|working\s?|business\s?)days?$/.test(words)) return '1-5';
  if (/^weekends?$/.test(words)) return '0,6';
  const days = words.split(/\s*(?:,\s*(?:and\s+)?|\band\b|&)\s*/).map((each) => {
    const [one = '', other] = each.split(/\s*(?:-|–|\bto\b|\bthrough\b|\buntil\b)\s*/);
    const [from, to] = [weekdayOf(one), other === undefined ? undefined : weekdayOf(other)];
    if (from === undefined || (other !== undefined && to === undefined)) return undefined;
    // In a range, Sunday is the end of a week.
    return to === undefined ? `${from}` : `${from}-${to < from ? to + 7 : to}`;
  });
  return days.some((each) => each === undefined) ? undefined : days.join(',');
}

function crons(times: readonly number[], fields: string): ReadEvery {
  const [first = usualTime] = times;
  const minutes = new Set(times.map((time) => time % 3_600));
  if (minutes.size > 1)
    return { ok: false, problem: 'names several times of different minutes. Set up one routine for each' };
  return cron(first, fields, times.map((time) => Math.floor(time / 3_600)).join(','));
}

function cron(time: number, fields: string, hours = String(Math.floor(time / 3_600))): ReadEvery {
  const seconds = time % 60 === 0 ? '' : `${time % 60} `;
  const expression = `${seconds}${Math.floor(time / 60) % 60} ${hours} ${fields}`;
  return { ok: true, when: { kind: 'cron', expression }, byClock: true };
}
