import { readSpan } from './read-span.ts';
import { shiftDate, type LocalDate } from './due-times.ts';

/** A time of day, in seconds after midnight. */
export type TimeOfDay = number;

/** The time of day if none is named: 9:00. */
export const usualTime: TimeOfDay = 9 * 3_600;

const dayParts: Readonly<Record<string, TimeOfDay>> = {
  morning: usualTime,
  noon: 12 * 3_600,
  midday: 12 * 3_600,
  lunchtime: 12 * 3_600,
  afternoon: 15 * 3_600,
  evening: 18 * 3_600,
  night: 20 * 3_600,
  midnight: 0,
};
const dayPart = Object.keys(dayParts).join('|');

const clock =
  /^(?:at |@ ?)?(\d{1,2})(?:[:.h](\d\d)(?::(\d\d))?)?(?: ?o['’]?clock)? ?(a\.?m\.?|p\.?m\.?|in the (?:morning|afternoon|evening)|at night)?$/;
const named = new RegExp(`^(?:at |in )?(?:the )?(${dayPart})$`);

/** Reads a time of day in lower case, such as "9:30", "2pm" or "noon". Undefined: there is no such time. */
export function readTimeOfDay(words: string): TimeOfDay | undefined {
  const part = named.exec(words)?.[1];
  if (part !== undefined) return dayParts[part];
  const found = clock.exec(words);
  if (found === null) return undefined;
  const [hours = 0, minutes = 0, seconds = 0] = found.slice(1, 4).map((each) => Number(each ?? 0));
  const half = found[4];
  if (half !== undefined && (hours < 1 || hours > 12)) return undefined;
  const hour = half === undefined ? hours : hourOfDay(hours % 12, half);
  if (hour > 23 || minutes > 59 || seconds > 59) return undefined;
  return (hour * 60 + minutes) * 60 + seconds;
}

/** The hour from 0 to 23 of an hour from 0 to 11. Noon is 12 pm, and 12 or 2 "at night" is before the morning. */
function hourOfDay(twelve: number, half: string): number {
  const isAfterNoon = /^p|afternoon/.test(half);
  const firstLate = isAfterNoon ? 0 : half.endsWith('evening') ? 1 : half.endsWith('night') ? dawn : 12;
  return twelve + (twelve < firstLate ? 0 : 12);
}

/** The first hour that is not the night before: "tonight at 4" is early in the morning, "at 5" in the evening. */
const dawn = 5;

/** What a time means after "tonight at": 20:00 for 8, and the next midnight for 12. */
export function timeAtNight(time: TimeOfDay): Readonly<{ time: TimeOfDay; isEarly: boolean }> {
  const twelve = time % (12 * 3_600);
  if (time >= 13 * 3_600) return { time, isEarly: false };
  const isEarly = twelve < dawn * 3_600;
  return { time: isEarly ? twelve : twelve + 12 * 3_600, isEarly };
}

/**
 * The ways to cut a text into a day and a time of day, the best first. A bare number counts as a time only as a last
 * resort.
 */
export function cutTimeOfDay(text: string): readonly Readonly<{ day: string; time?: TimeOfDay }>[] {
  const words = text.split(' ');
  const joined = (part: readonly string[]): string => part.join(' ').replace(/,$/, '');
  const cuts = [...words.keys()].flatMap((n) => {
    const ways = [
      [words.slice(n), words.slice(0, n)],
      [words.slice(0, words.length - n), words.slice(words.length - n)],
    ] as const;
    return ways.flatMap(([said, rest]) => {
      const time = readTimeOfDay(joined(said));
      return time === undefined ? [] : [{ day: joined(rest), time, isBare: /^\d+$/.test(joined(said)) }];
    });
  });
  return [...cuts.filter(({ isBare }) => !isBare), { day: text }, ...cuts.filter(({ isBare }) => isBare)];
}

const weekdayNames = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const monthNames =
  'january february march april may june july august september october november december'.split(' ');

/** The number of a weekday, such as "tue", "tuesdays" or "thurs."; Sunday is 0. Undefined: it is none. */
export function weekdayOf(word: string): number | undefined {
  return beginningOf(word, weekdayNames);
}

/** The number of a month; January is 1. Undefined: the word is none. */
function monthOf(word: string): number | undefined {
  const at = beginningOf(word, monthNames);
  return at === undefined ? undefined : at + 1;
}

function beginningOf(word: string, names: readonly string[]): number | undefined {
  const plain = word.replace('.', '');
  const at = names.findIndex((name) => plain === `${name}s` || (plain.length > 2 && name.startsWith(plain)));
  return at < 0 ? undefined : at;
}

/** The number of a day of a month: "3rd" is 3. Undefined: the word is none. */
export function ordinalOf(word: string): number | undefined {
  const number = /^(0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.)?$/.exec(word)?.[1];
  return number === undefined ? undefined : Number(number);
}

/**
 * The days that a text can mean, the nearest first; the first one that is still to come is meant. `time` is the time of
 * day in words such as "tonight". Undefined: the text names no day.
 */
export function readDay(
  text: string,
  today: LocalDate,
): Readonly<{ days: readonly LocalDate[]; time?: TimeOfDay }> | undefined {
  const words = text.replace(/^(?:on|by) /, '');
  const later = (days: number): LocalDate => shiftDate(today, { days });
  switch (words) {
    case '':
      return { days: [today, later(1)] };
    case 'today':
    case 'this':
      return { days: [today] };
    case 'tonight':
      return { days: [today], time: dayParts['night'] };
    case 'tomorrow':
    case 'tmrw':
      return { days: [later(1)] };
    case 'day after tomorrow':
    case 'overmorrow':
      return { days: [later(2)] };
    case 'next week':
      return { days: [later(untilNextMonday(today))] };
    case 'next month':
      return { days: [shiftDate({ ...today, day: 1 }, { months: 1 })] };
    case 'next year':
      return { days: [{ year: today.year + 1, month: 1, day: 1 }] };
  }
  const days = inSpan(words, today) ?? onWeekday(words, today) ?? onDate(words, today);
  return days === undefined ? undefined : { days };
}

/** How many days away the next such weekday is: 0 or more, or at least `least`. */
function untilWeekday(weekday: number, { year, month, day }: LocalDate, least: number): number {
  const now = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
  return ((weekday - now - least + 14) % 7) + least;
}

function untilNextMonday(today: LocalDate): number {
  return untilWeekday(1, today, 1);
}

/** Reads a day that is counted from another, as in "in 3 days" or "a week from monday". */
function inSpan(words: string, today: LocalDate): readonly LocalDate[] | undefined {
  const [, said = '', from = 'now'] =
    /^(?:in )?(.+?) (?:from|after) (.+)$/.exec(words) ?? /^in (.+)$/.exec(words) ?? [];
  const span = readSpan(said);
  const start = from === 'now' ? [today] : readDay(from, today)?.days;
  if (span === undefined || span.ms > 0) return undefined;
  return start?.map((each) => shiftDate(each, span));
}

function onWeekday(words: string, today: LocalDate): readonly LocalDate[] | undefined {
  const [, which, name = '', nextWeek] =
    /^(?:(this|next|coming|this coming) )?([a-z.]+)( next week)?$/.exec(words) ?? [];
  const weekday = weekdayOf(name);
  if (weekday === undefined) return undefined;
  if (nextWeek !== undefined)
    return [shiftDate(today, { days: untilNextMonday(today) + ((weekday + 6) % 7) })];
  const away = untilWeekday(weekday, today, which === 'next' ? 1 : 0);
  return [shiftDate(today, { days: away }), shiftDate(today, { days: away + 7 })];
}

/** Days and months as numbers count only if their order is certain. */
const dates = [
  /^(?<year>\d{4})[-/](?<month>\d{1,2})[-/](?<day>\d{1,2})$/,
  /^(?<day>\d{1,2})\. ?(?<month>\d{1,2})(?:\. ?(?<year>\d{4}))?\.?$/,
  /^(?<day>1[3-9]|[2-9]\d)\/(?<month>\d{1,2})(?:\/(?<year>\d{4}))?$/,
  /^(?<month>\d{1,2})\/(?<day>1[3-9]|[2-9]\d)(?:\/(?<year>\d{4}))?$/,
];

function onDate(words: string, today: LocalDate): readonly LocalDate[] | undefined {
  for (const pattern of dates) {
    const { day, month, year } = pattern.exec(words)?.groups ?? {};
    if (day !== undefined) return dated(Number(day), Number(month), Number(year ?? 0), today);
  }
  const date = readNamedDate(words);
  if (date === undefined) return undefined;
  const { day, month, year } = date;
  if (month !== undefined) return dated(day, month, year, today);
  return Array.from({ length: 12 }, (_, n) => ({ ...shiftDate({ ...today, day: 1 }, { months: n }), day }));
}

type NamedDate = Readonly<{ day: number; month: number | undefined; year: number }>;

/** Reads a date with the name of its month, or only a day such as "the 15th". Without a year, `year` is 0. */
export function readNamedDate(words: string): NamedDate | undefined {
  const [first = '', second = '', year = '', ...more] = words.replaceAll(/\b(?:the|of) |,/g, '').split(' ');
  if (more.length > 0 || !/^(?:\d{4})?$/.test(year)) return undefined;
  const before = monthOf(first);
  const month = before ?? monthOf(second);
  const day = ordinalOf(before === undefined ? first : second);
  const isNumber = month === undefined && (second !== '' || /\d$/.test(first));
  return day === undefined || isNumber ? undefined : { day, month, year: Number(year) };
}

/** Dates of this day, without a year in the next nine years, because 29 February may be eight years away. */
function dated(day: number, month: number, year: number, today: LocalDate): readonly LocalDate[] {
  if (year > 0) return [{ year, month, day }];
  return Array.from({ length: 9 }, (_, n) => ({ year: today.year + n, month, day }));
}
