import type { RoutineTime } from '../store/routines.ts';
import { nextTime, timeInZone } from './due-times.ts';

export type ReadWhen = Readonly<
  { ok: true; when: RoutineTime } | { ok: false; problem: string; isPast?: true }
>;

const longest = 100;
const minute = 60_000;
const units: Readonly<Record<string, number>> = {
  m: minute,
  h: 60 * minute,
  d: 24 * 60 * minute,
  w: 7 * 24 * 60 * minute,
};
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
/** Ten years: later is a slip. */
const furthestMs = 3_653 * 24 * 60 * minute;

const examples =
  'Write a time ("2026-12-24T18:00"), a time from now ("in 20 minutes", "in 2 days"), an interval ("every 2 hours", ' +
  '"every monday at 9:00", "every weekday at 8:30"), or a cron expression of five fields ("0 9 * * 1-5").';

/** `when` as people and models write it (N2). `problem` is for the model, with examples. */
export function readWhen(text: string, { zone, now }: Readonly<{ zone: string; now: number }>): ReadWhen {
  const words = text.trim();
  if (words.length > longest) return problem(`"when" is longer than ${longest} characters. ${examples}`);
  const read =
    readIso(words, zone) ?? readIn(words, zone, now) ?? readEvery(words, now) ?? readCron(words, zone);
  if (!read.ok || read.when.kind === 'every') return read;
  const next = nextTime(read.when, zone, now);
  if (read.when.kind === 'once') {
    if (next === undefined)
      return {
        ok: false,
        problem: `"${words}" is in the past: it is ${new Date(now).toISOString().slice(0, 16)}Z now. Write a later time.`,
        isPast: true,
      };
    if (next > now + furthestMs)
      return problem(`"${words}" is more than ten years away. Write an earlier time.`);
  }
  return next === undefined ? problem(`"${words}" never comes: there is no such day. ${examples}`) : read;
}

function problem(words: string): ReadWhen {
  return { ok: false, problem: words };
}

function once(at: number): ReadWhen {
  return { ok: true, when: { kind: 'once', at } };
}

const iso = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::\d\d(?:\.\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?$/i;

function readIso(words: string, zone: string): ReadWhen | undefined {
  const found = iso.exec(words);
  if (found === null) {
    if (/^\d{4}-\d\d-\d\d$/.test(words))
      return problem(`"${words}" has no time of day. Write "${words}T09:00".`);
    return undefined;
  }
  const [year = 0, month = 0, day = 0, hour = 0, min = 0] = found.slice(1, 6).map(Number);
  const [, , , , , , offset] = found;
  const noDate = `"${words}" is no time that exists. ${examples}`;
  const inZone = timeInZone({ year, month, day, hour, minute: min }, offset === undefined ? zone : 'UTC');
  if (inZone === undefined) return problem(noDate);
  if (offset === undefined || /z/i.test(offset)) return once(inZone);
  const [, sign, hours, minutes] = /([+-])(\d\d):?(\d\d)/.exec(offset) ?? [];
  const shift = (Number(hours) * 60 + Number(minutes)) * minute;
  return Number(hours) > 14 || Number(minutes) > 59
    ? problem(noDate)
    : once(inZone - (sign === '-' ? -shift : shift));
}

const span =
  /^(\d{1,4}|an?|one)\s*(m|min|mins|minutes?|h|hrs?|hours?|d|days?|w|weeks?)\b\s*(?:and\s+|,\s*)?/i;

function spanOf(text: string): Readonly<{ ms: number; days: number }> | undefined {
  let [rest, ms, days] = [text.trim(), 0, 0];
  if (/^half an hour$/i.test(rest)) return { ms: 30 * minute, days: 0 };
  while (rest !== '') {
    const [all = '', number = '', unit = ''] = span.exec(rest) ?? [];
    if (all === '') return undefined;
    const count = /^\d/.test(number) ? Number(number) : 1;
    const size = units[unit.charAt(0).toLowerCase()] ?? 0;
    if (size >= 24 * 60 * minute) days += (count * size) / (24 * 60 * minute);
    else ms += count * size;
    rest = rest.slice(all.length);
  }
  return ms === 0 && days === 0 ? undefined : { ms, days };
}

/** Days keep the time of day when the clocks change. */
function readIn(words: string, zone: string, now: number): ReadWhen | undefined {
  const [, rest] = /^in\s+(.+)$/i.exec(words) ?? [];
  if (rest === undefined) return undefined;
  const found = spanOf(rest);
  if (found === undefined) return problem(`"${words}" is no time from now. ${examples}`);
  if (found.days === 0) return once(now + found.ms);
  const today = localParts(now, zone);
  const day = new Date(Date.UTC(today.year, today.month - 1, today.day + found.days));
  const date = { year: day.getUTCFullYear(), month: day.getUTCMonth() + 1, day: day.getUTCDate() };
  const at = timeInZone({ ...today, ...date }, zone);
  return at === undefined ? problem(`"${words}" is no time from now. ${examples}`) : once(at + found.ms);
}

function readEvery(words: string, now: number): ReadWhen | undefined {
  const [, rest] = /^every\s+(.+)$/i.exec(words) ?? [];
  if (rest === undefined) return undefined;
  const [, what = '', hour, min] = /^([a-z]+?)s?(?:\s+at\s+(\d{1,2})(?::(\d\d))?)?$/i.exec(rest.trim()) ?? [];
  const day = { day: '*', weekday: '1-5' }[what.toLowerCase()] ?? weekdayOf(what);
  if (day !== undefined) {
    if (hour === undefined || Number(hour) > 23 || Number(min ?? 0) > 59)
      return problem(`"${words}" has no time of day that exists. Write "every ${what} at 9:00".`);
    return { ok: true, when: { kind: 'cron', expression: `${Number(min ?? 0)} ${Number(hour)} * * ${day}` } };
  }
  const found = spanOf(/^(minute|hour|day|week)s?$/i.test(rest.trim()) ? `1 ${rest}` : rest);
  if (found === undefined) return problem(`"${words}" is no interval. ${examples}`);
  if (found.days > 0)
    return problem(
      `"${words}" has no time of day. Write a cron expression, such as "0 9 */2 * *" or "0 9 * * 1".`,
    );
  return { ok: true, when: { kind: 'every', ms: found.ms, from: now } };
}

function weekdayOf(word: string): string | undefined {
  const at = weekdays.indexOf(word.toLowerCase());
  return at < 0 ? undefined : String(at);
}

function readCron(words: string, zone: string): ReadWhen {
  const fields = words.split(/\s+/).length;
  if (fields !== 5 && !words.startsWith('@')) return problem(`"${words}" is no time. ${examples}`);
  const when = { kind: 'cron', expression: words } as const;
  try {
    nextTime(when, zone, 0);
    return { ok: true, when };
  } catch (error) {
    const said = error instanceof Error ? error.message.replace(/^Cron\w*:\s*/, '') : String(error);
    return problem(`"${words}" is no cron expression: ${said}. ${examples}`);
  }
}

function localParts(
  at: number,
  timeZone: string,
): Record<'year' | 'month' | 'day' | 'hour' | 'minute', number> {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return {
    year: part('year'),
    month: part('month'),
    day: part('day'),
    hour: part('hour'),
    minute: part('minute'),
  };
}
