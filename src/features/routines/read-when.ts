import { isZone } from '../../core/local-time.ts';
import type { RoutineTime } from '../../store/routines.ts';
import { localDate, nextTime, shiftDate, timeInZone } from './due-times.ts';
import { cutTimeOfDay, readDay, timeAtNight, usualTime } from './read-day.ts';
import { readEvery } from './read-every.ts';
import { readSpan } from './read-span.ts';

/**
 * `zone` is a time zone that the text itself names. `byClock`: the text would mean another time in another zone (U20).
 */
export type ReadWhen = Readonly<
  | { ok: true; when: RoutineTime; zone?: string; byClock: boolean }
  | { ok: false; problem: string; isPast?: true }
>;

type Place = Readonly<{ zone: string; now: number }>;

const longest = 100;
/** Ten years. A time that is later than this is probably a slip. */
const furthestMs = 3_653 * 24 * 3_600_000;

const examples =
  'Write a time ("2026-12-24T18:00", "tomorrow at 9:00"), a time from now ("in 20 minutes", "in 2 days"), an interval ' +
  '("every 2 hours", "every 2 weeks on monday at 9:00", "every weekday at 8:30"), or a cron expression of five fields ("0 9 * * 1-5").';

/** A full stop at the end, but not that of a date such as "5.12.". */
const fullStop = /(?<!^(?:on )?\d+\. ?(?:0?[1-9]|1[0-2]))[.!]$/;

/** Reads a time as people and models write it (N2, U20). `problem` is for the model and has examples. */
export function readWhen(text: string, { zone: known, now }: Place): ReadWhen {
  const written = text.trim().replace(/\s+/g, ' ');
  if (written.length > longest) return problem(`"when" is longer than ${longest} characters. ${examples}`);
  const { words, zone: named } = withoutZone(written);
  if (named !== undefined && !isZone(named)) return problem(`"${named}" is no time zone. ${examples}`);
  const zone = named ?? known;
  const lower = words.toLowerCase().replace(fullStop, '').replaceAll(/ ?, ?/g, ', ').trim();
  const of = { zone, now };
  const read =
    readCron(words, zone) ??
    readIso(words, zone) ??
    readIn(lower, of) ??
    repeated(lower, words, of) ??
    readOn(lower, of);
  if (read === undefined)
    return problem(`"${written}" is no time${/^(?:in|after) /.test(lower) ? ' from now' : ''}. ${examples}`);
  return read.ok ? judged({ ...read, zone: named }, written, of) : read;
}

function judged(read: Extract<ReadWhen, { ok: true }>, words: string, { zone, now }: Place): ReadWhen {
  const isOnce = read.when.kind === 'once';
  const next = nextTime(read.when, zone, now);
  if (next === undefined && isOnce)
    return {
      ok: false,
      problem: `"${words}" is in the past: it is ${new Date(now).toISOString().slice(0, 16)}Z now. Write a later time.`,
      isPast: true,
    };
  if (next === undefined) return problem(`"${words}" never comes: there is no such day. ${examples}`);
  return isOnce && next > now + furthestMs
    ? problem(`"${words}" is more than ten years away. Write an earlier time.`)
    : read;
}

/** Splits a time zone off, as in "tomorrow at 9:00 Europe/Zurich", "CRON_TZ=Europe/Zurich 0 9 * * *" or "9am UTC". */
function withoutZone(words: string): Readonly<{ words: string; zone: string | undefined }> {
  const [, before, cron = ''] = /^(?:CRON_)?TZ=(\S+) (.*)$/i.exec(words) ?? [];
  if (before !== undefined) return { words: cron, zone: before };
  const [, rest = words, zone] =
    /^(.+?),?(?: in)? ?[([]?\b(UTC|GMT|[A-Z][A-Za-z]+(?:\/[A-Z][A-Za-z_+-]+\d*)+)(?: time)?[)\]]?$/.exec(
      words,
    ) ?? [];
  return { words: rest, zone: zone === 'GMT' ? 'UTC' : zone };
}

function problem(words: string): ReadWhen {
  return { ok: false, problem: words };
}

function once(at: number, byClock: boolean): ReadWhen {
  return { ok: true, when: { kind: 'once', at }, byClock };
}

const iso =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)? ?(Z|([+-])(\d\d)(?::?(\d\d))?)?$/i;

/** Reads an ISO time. Parts of a second are rounded up, so that nothing fires too early. */
function readIso(words: string, zone: string): ReadWhen | undefined {
  const found = iso.exec(words);
  if (found === null) return undefined;
  const numbers = (from: number, to: number): readonly number[] =>
    found.slice(from, to).map((each) => Number(each ?? 0));
  const [year = 0, month = 0, day = 0, hour = 0, min = 0, sec = 0] = numbers(1, 7);
  const [fraction = '', offset, sign] = found.slice(7, 10);
  const [hours = 0, minutes = 0] = numbers(10, 12);
  const noDate = problem(`"${words}" is no time that exists. ${examples}`);
  if (min > 59 || sec > 59 || hours > 14 || minutes > 59) return noDate;
  const clock = (hour * 60 + min) * 60 + sec;
  const at = timeInZone({ year, month, day, clock }, offset === undefined ? zone : 'UTC');
  if (at === undefined) return noDate;
  const shift = (sign === '-' ? 1 : -1) * (hours * 60 + minutes) * 60_000;
  return once(at + Math.ceil(Number(`0.${fraction}`) * 1_000) + shift, offset === undefined);
}

/** Reads a time from now. With days and months, the time of day stays the same when the clocks change. */
function readIn(words: string, { zone, now }: Place): ReadWhen | undefined {
  const [, said = words] =
    /^(?:in|after|\+) ?(.+)$/.exec(words) ?? /^(.+?) (?:from now|later)$/.exec(words) ?? [];
  const span = readSpan(said);
  if (span === undefined) return undefined;
  if (span.days === 0 && span.months === 0) return once(now + span.ms, false);
  const { clock, ...today } = localDate(now, zone);
  const at = timeInZone({ ...shiftDate(today, span), clock }, zone);
  // The time of day has no parts of a second, so they are added.
  return at === undefined ? undefined : once(at + span.ms + (now % 1_000), false);
}

function repeated(lower: string, words: string, of: Place): ReadWhen | undefined {
  const read = readEvery(lower, of);
  return read === undefined || read.ok ? read : problem(`"${words}" ${read.problem}. ${examples}`);
}

/**
 * Reads a day, a time or both, such as "9am", "next monday" or "24 december at 18:00". It means the first such time
 * that is still to come.
 */
function readOn(words: string, { zone, now }: Place): ReadWhen | undefined {
  const today = localDate(now, zone);
  for (const { day, time } of cutTimeOfDay(words)) {
    const read = words === '' ? undefined : readDay(day, today);
    if (read === undefined) continue;
    const night = day === 'tonight' && time !== undefined ? timeAtNight(time) : undefined;
    const clock = night?.time ?? time ?? read.time ?? usualTime;
    const days = night?.isEarly === true ? [today, shiftDate(today, { days: 1 })] : read.days;
    const times = days.flatMap((date) => timeInZone({ ...date, clock }, zone) ?? []);
    const [first] = times;
    if (first === undefined) return problem(`"${words}" is no time that exists. ${examples}`);
    return once(times.find((at) => at > now) ?? first, true);
  }
  return undefined;
}

const field = /^[\d*?/,LW#-]+$/i;

/**
 * Reads a cron expression of five fields, or of six that begin with one number of seconds. "?" means "any", as in
 * Quartz.
 */
function readCron(words: string, zone: string): ReadWhen | undefined {
  const fields = words.split(' ');
  const [first = '', second = ''] = fields;
  const isCron = words.startsWith('@') || (fields.length > 4 && field.test(first) && field.test(second));
  if (!isCron) return undefined;
  if (fields.length > 6) return problem(`"${words}" has ${fields.length} fields. ${examples}`);
  if (fields.length === 6 && !/^\d{1,2}$/.test(first))
    return problem(
      `"${words}" begins with the seconds, so its first field has to be one number. ${examples}`,
    );
  const given = fields.length === 6 && Number(first) === 0 ? fields.slice(1) : fields;
  const expression = given.join(' ').replaceAll('?', '*');
  const when = { kind: 'cron', expression } as const;
  try {
    nextTime(when, zone, 0);
    return { ok: true, when, byClock: true };
  } catch (error) {
    const said = error instanceof Error ? error.message.replace(/^Cron\w*:\s*/, '') : String(error);
    return problem(`"${words}" is no cron expression: ${said}. ${examples}`);
  }
}
