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
  /^(?:at\s+|@\s*)?(\d{1,2})(?:[:.h](\d\d))?(?::(\d\d))?\s*(a\.?m\.?|p\.?m\.?|in the (?:morning|afternoon|evening)|at night)?(?:\s*o['’]?clock)?$/;
const named = new RegExp(`^(?:at\\s+|in the\\s+)?(?:the\\s+)?(${dayPart})$`);

/** Reads a time of day in lower case, such as "9:30", "2pm" or "noon". Undefined: there is no such time. */
export function readTimeOfDay(text: string): TimeOfDay | undefined {
  const words = text.trim();
  const part = named.exec(words)?.[1];
  if (part !== undefined) return dayParts[part];
  const found = clock.exec(words);
  if (found === null) return undefined;
  const [, hours = '', minutes = '0', seconds = '0', half] = found;
  const twelve = Number(hours);
  const isLate = half !== undefined && /^(?:p|in the (?:afternoon|evening)|at night)/.test(half);
  if (half !== undefined && (twelve < 1 || twelve > 12)) return undefined;
  const hour = half === undefined ? twelve : (twelve % 12) + (isLate ? 12 : 0);
  if (hour > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  return (hour * 60 + Number(minutes)) * 60 + Number(seconds);
}

const isSure = /^(?:at\b|@|in the\b)|[:.]\d\d|\d\s*[ap]\.?m|o['’]?clock|\d\s+in the\b/;

/**
 * The ways to cut a text into a day and a time of day, the best first. A bare number counts as a time only as a last
 * resort.
 */
export function cutTimeOfDay(text: string): readonly Readonly<{ day: string; time?: TimeOfDay }>[] {
  const words = text
    .trim()
    .split(/\s+/)
    .filter((each) => each !== '');
  const cuts: Readonly<{ day: string; time: TimeOfDay; sure: boolean }>[] = [];
  for (let size = Math.min(words.length, 6); size > 0; size--)
    for (const isFirst of [false, true]) {
      const taken = isFirst ? words.slice(0, size) : words.slice(-size);
      const rest = isFirst ? words.slice(size) : words.slice(0, -size);
      const said = taken.join(' ').replace(/,$/, '');
      const time = readTimeOfDay(said);
      const day = rest
        .join(' ')
        .replace(/,$/, '')
        .replace(/^(?:on|and)\s+/, '');
      if (time !== undefined) cuts.push({ day, time, sure: isSure.test(said) || named.test(said) });
    }
  return [...cuts.filter(({ sure }) => sure), { day: words.join(' ') }, ...cuts.filter(({ sure }) => !sure)];
}

const weekdayNames = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const monthNames =
  'january february march april may june july august september october november december'.split(' ');

/** The number of a weekday, such as "tue", "Tuesdays" or "thurs."; Sunday is 0. Undefined: it is none. */
export function weekdayOf(word: string): number | undefined {
  return beginningOf(word.replace(/\.$/, ''), weekdayNames);
}

/** The number of a month; January is 1. Undefined: the word is none. */
export function monthOf(word: string): number | undefined {
  const at = beginningOf(word.replace(/\.$/, ''), monthNames);
  return at === undefined ? undefined : at + 1;
}

function beginningOf(word: string, names: readonly string[]): number | undefined {
  const isName = (name: string): boolean => word === `${name}s` || (word.length > 2 && name.startsWith(word));
  const at = names.findIndex(isName);
  return at < 0 ? undefined : at;
}

/** The number of an ordinal: "3rd" is 3. Undefined: the word is none. */
export function ordinalOf(word: string): number | undefined {
  const number = /^(\d{1,2})(?:st|nd|rd|th|\.)?$/.exec(word)?.[1];
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
  const words = text
    .trim()
    .replace(/^(?:on|by)\s+/, '')
    .replace(/^the (?=day after)/, '');
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
      return { days: [later(untilWeekday(1, today, 1))] };
    case 'next month':
      return { days: [{ ...shiftDate({ ...today, day: 1 }, { months: 1 }), day: 1 }] };
    case 'next year':
      return { days: [{ year: today.year + 1, month: 1, day: 1 }] };
  }
  const days = inSpan(words, today) ?? onWeekday(words, today) ?? onDate(words, today);
  return days === undefined ? undefined : { days };
}

/** How many days away the next such weekday is: 0 or more, or at least `least`. */
function untilWeekday(weekday: number, { year, month, day }: LocalDate, least = 0): number {
  const now = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
  return ((weekday - now - least + 14) % 7) + least;
}

/** Reads a day that is counted from another, as in "in 3 days" or "a week from Monday". */
function inSpan(words: string, today: LocalDate): readonly LocalDate[] | undefined {
  const [, said, from = 'today'] = /^(?:in\s+)?(.+?)(?:\s+(?:from|after)\s+(.+))?$/.exec(words) ?? [];
  if (said === undefined || (from === 'today' && !/^in\s|\sfrom\s/.test(words))) return undefined;
  const span = readSpan(said);
  const start = from === 'now' ? [today] : readDay(from, today)?.days;
  if (span === undefined || span.ms > 0 || start === undefined) return undefined;
  return start.map((each) => shiftDate(each, span));
}

function onWeekday(words: string, today: LocalDate): readonly LocalDate[] | undefined {
  const found = /^(?:(this|next|coming|this coming)\s+)?([a-z]{3,9}\.?)(\s+next week)?$/.exec(words);
  const weekday = found === null ? undefined : weekdayOf(found[2] ?? '');
  if (found === null || weekday === undefined) return undefined;
  if (found[3] !== undefined)
    return [shiftDate(today, { days: untilWeekday(1, today, 1) + ((weekday + 6) % 7) })];
  const away = untilWeekday(weekday, today, found[1] === 'next' ? 1 : 0);
  return [shiftDate(today, { days: away }), shiftDate(today, { days: away + 7 })];
}

/** Reads a date. Days and months as numbers count only if their order is certain. */
function onDate(words: string, today: LocalDate): readonly LocalDate[] | undefined {
  const numbers = (pattern: RegExp): readonly number[] | undefined =>
    pattern
      .exec(words)
      ?.slice(1)
      .map((each) => Number(each ?? 0));
  const [year, month = 0, day = 0] = numbers(/^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$/) ?? [];
  if (year !== undefined) return [{ year, month, day }];
  const dotted = numbers(/^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})?$/);
  if (dotted !== undefined) return dated(dotted[0], dotted[1], dotted[2], today);
  const [one = 0, other = 0, of] = numbers(/^(\d{1,2})\/(\d{1,2})(?:\/(\d{4}))?$/) ?? [];
  if (one > 12) return dated(one, other, of, today);
  if (other > 12) return dated(other, one, of, today);
  return onNamedDate(words, today);
}

function onNamedDate(words: string, today: LocalDate): readonly LocalDate[] | undefined {
  const parts = words
    .replace(/\b(?:the|of)\b|,/g, ' ')
    .trim()
    .split(/\s+/);
  const [first = '', second = '', written] = parts;
  const year = written === undefined ? 0 : Number(written);
  if (parts.length > 3 || !(year === 0 || /^\d{4}$/.test(written ?? ''))) return undefined;
  if (parts.length === 1 && /^(?:the\s+)?\d{1,2}(?:st|nd|rd|th)$/.test(words)) {
    const day = ordinalOf(first) ?? 0;
    return Array.from({ length: 12 }, (_, n) => ({ ...shiftDate({ ...today, day: 1 }, { months: n }), day }));
  }
  const [month, day] = [
    monthOf(first) ?? monthOf(second),
    ordinalOf(monthOf(first) === undefined ? first : second),
  ];
  return month === undefined || day === undefined ? undefined : dated(day, month, year, today);
}

/** Dates of this day, without a year in the next nine years, because 29 February may be eight years away. */
function dated(day = 0, month = 0, year = 0, today: LocalDate): readonly LocalDate[] {
  if (year > 0) return [{ year, month, day }];
  return Array.from({ length: 9 }, (_, n) => ({ year: today.year + n, month, day }));
}
