import type { RoutineTime } from '../../store/routines.ts';
import { localDate, timeInZone } from './due-times.ts';
import {
  cutTimeOfDay,
  ordinalOf,
  readDay,
  readNamedDate,
  readTimeOfDay,
  usualTime,
  weekdayOf,
} from './read-day.ts';
import { readSpan, type TimeSpan } from './read-span.ts';

export type ReadEvery = Readonly<
  { ok: true; when: RoutineTime; byClock: boolean } | { ok: false; problem: string }
>;

type Days = Readonly<{ zone: string; now: number }>;

const lengths: Readonly<Record<string, string>> = {
  each: 'every',
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
const length = new RegExp(`\\b(?:${Object.keys(lengths).join('|')})\\b`, 'g');
const ofMonth = / of (?:the |every |a )?month$/;
const repeats = /\bevery\b| of (?:the|a) month\b|(?:^|\bon )(?:[a-z]+days|weekends)\b/;

/**
 * Reads words for times that repeat, in lower case, such as "every 2 weeks", "weekdays at 8" or "last friday of the
 * month at 16:00". Undefined: nothing repeats.
 */
export function readEvery(words: string, of: Days): ReadEvery | undefined {
  const plain = words.replaceAll(length, (word) => lengths[word] ?? word).replaceAll('every every', 'every');
  const isRange = cutTimeOfDay(plain).some(({ day }) => weekdaysOf(bodyOf(day))?.includes('-'));
  if (!repeats.test(plain) && !isRange) return undefined;
  // The time may come first, as in "9am every monday". In "first monday of every month" it does not.
  const [, ahead = '', rest = ''] = /^(.+?) ((?:every|on) .+)$/.exec(plain) ?? [];
  const times = timesOf(ahead);
  for (const cut of times === undefined ? cutTimes(plain) : [{ day: rest, times }]) {
    const read = readBody(bodyOf(cut.day), cut.times, of);
    if (read !== undefined) return read;
  }
  return { ok: false, problem: 'is no interval' };
}

function bodyOf(words: string): string {
  return words.replace(/^(?:on )?(?:every )?(?:the )?/, '');
}

/** Splits words into day and times. A list such as "9:00, 12:00 and 17:00" may be at the end. */
function cutTimes(words: string): readonly Readonly<{ day: string; times: readonly number[] | undefined }>[] {
  const [, day = '', list = ''] = /^(.+?) at (.+)$/.exec(words) ?? [];
  const several = timesOf(list);
  if (several !== undefined) return [{ day, times: several }];
  return cutTimeOfDay(words).map(({ day: cut, time }) => ({
    day: cut,
    times: time === undefined ? undefined : [time],
  }));
}

function timesOf(list: string): readonly number[] | undefined {
  const times = list.split(/, ?(?:and )?| and /).map((each) => readTimeOfDay(each));
  return times.every((time) => time !== undefined) ? times : undefined;
}

const nths: Readonly<Record<string, number>> = { other: 2, second: 2, '2nd': 2, third: 3, '3rd': 3 };
const nthOf = new RegExp(`^(${Object.keys(nths).join('|')}) (.+)$`);

function readBody(body: string, times: readonly number[] | undefined, of: Days): ReadEvery | undefined {
  const part = /\d/.test(body) ? undefined : readTimeOfDay(body);
  if (part !== undefined && times === undefined) return crons([part], '* * *');
  const [, before = body, start = ''] = /^(.+?) on (?:the )?(.+)$/.exec(body) ?? [];
  const isUnit = start !== '' && /^(?:day|week|month|year)$/.test(before);
  const fields = isUnit ? fieldsOf(start, before) : fieldsOf(body);
  if (fields !== undefined) return crons(times ?? [usualTime], fields);
  const [, nth = '', what = before] = nthOf.exec(before) ?? [];
  const count = nths[nth] ?? 1;
  if (start === '' && weekdayOf(what) !== undefined)
    return steps({ ms: 0, days: 7 * count, months: 0 }, what, times, of);
  const span = readSpan(what) ?? readSpan(`${count} ${what}`);
  if (span === undefined) return undefined;
  if (span.days === 0 && span.months === 0)
    return times === undefined && start === ''
      ? { ok: true, when: { kind: 'every', ms: span.ms, from: of.now }, byClock: false }
      : undefined;
  return span.ms > 0 ? undefined : steps(span, start, times, of);
}

/** Steps that begin now, or on the next day and time that the words name. */
function steps(
  span: TimeSpan,
  start: string,
  times: readonly number[] | undefined,
  of: Days,
): ReadEvery | undefined {
  const [unit, count] = span.months > 0 ? (['month', span.months] as const) : (['day', span.days] as const);
  if (span.months > 0 && span.days > 0) return undefined;
  if (times !== undefined && times.length > 1) return undefined;
  const today = localDate(of.now, of.zone);
  if (start === '' && times === undefined) {
    const when = { kind: 'steps', unit, count, from: of.now, clock: today.clock } as const;
    return { ok: true, when, byClock: false };
  }
  const clock = times?.[0] ?? usualTime;
  const days = (readDay(start, today) ?? readDay(`${start}th`, today))?.days ?? [];
  const from = days
    .flatMap((each) => timeInZone({ ...each, clock }, of.zone) ?? [])
    .find((at) => at > of.now);
  if (from === undefined) return undefined;
  return { ok: true, when: { kind: 'steps', unit, count, from, clock }, byClock: true };
}

/**
 * Day, month and weekday of a cron expression. `unit` is what "on" belongs to. Undefined: the words mean no such days.
 */
function fieldsOf(words: string, unit?: string): string | undefined {
  if (unit === 'month' || ofMonth.test(words)) return inMonth(words.replace(ofMonth, ''));
  if (words === 'day') return '* * *';
  const weekdays = weekdaysOf(words);
  if (weekdays !== undefined) return `* * ${weekdays}`;
  const date = readNamedDate(words);
  return date?.month === undefined || date.year > 0 ? undefined : `${date.day} ${date.month} *`;
}

const ordinals: Readonly<Record<string, number>> = { first: 1, second: 2, third: 3, fourth: 4, fifth: 5 };

/** Reads words within a month, such as "15th", "last day", "first monday" or "last friday". */
function inMonth(words: string): string | undefined {
  const [which = '', day = 'day', ...more] = words.split(' ');
  const number = which === 'last' ? 'L' : (ordinals[which] ?? ordinalOf(which));
  if (number === undefined || more.length > 0) return undefined;
  if (day === 'day') return `${number} * *`;
  const weekday = weekdayOf(day);
  if (weekday === undefined) return undefined;
  if (number === 'L') return `* * ${weekday}L`;
  return number > 5 ? undefined : `* * ${weekday}#${number}`;
}

/** Reads weekdays, such as "mon-fri", "mondays and thursdays" or "weekdays". */
function weekdaysOf(words: string): string | undefined {
  if (/^(?:week|work|working ?|business ?)days?$/.test(words)) return '1-5';
  if (/^weekends?$/.test(words)) return '0,6';
  const days = words.split(/, ?(?:and )?| and | ?& ?/).map((each) => {
    const [one = '', other] = each.split(/ ?[-–] ?| (?:to|through|until) /);
    const [from, to] = [weekdayOf(one), weekdayOf(other ?? one)];
    if (from === undefined || to === undefined) return undefined;
    if (other === undefined) return `${from}`;
    return from <= to ? `${from}-${to}` : `${from}-6,0-${to}`;
  });
  return days.includes(undefined) ? undefined : days.join(',');
}

/** All times have to be at the same minute and second, since a cron expression has one of each. */
function crons(times: readonly number[], fields: string): ReadEvery {
  const [rest = 0, ...others] = new Set(times.map((time) => time % 3_600));
  if (others.length > 0)
    return { ok: false, problem: 'names several times of different minutes. Set up one routine for each' };
  const seconds = rest % 60 === 0 ? '' : `${rest % 60} `;
  const hours = times.map((time) => Math.floor(time / 3_600)).join(',');
  const expression = `${seconds}${Math.floor(rest / 60)} ${hours} ${fields}`;
  return { ok: true, when: { kind: 'cron', expression }, byClock: true };
}
