import { createRequire } from 'node:module';
import type * as Croner from 'croner';
import { once } from '../../lib/async/mutex.ts';
import type { RoutineTime } from '../../store/routines.ts';

const require = createRequire(import.meta.url);
/** The library is loaded on first use. */
const croner = once(() => require('croner') as typeof Croner);

/** How many missed times are counted at most. A routine of every minute misses more than that in a week. */
const mostMissed = 1_000;
const samples = 60;

/**
 * The next `count` times after `after`, in Unix milliseconds; fewer if they end. Throws if the cron expression is
 * wrong.
 */
export function nextTimes(when: RoutineTime, zone: string, after: number, count = 1): readonly number[] {
  switch (when.kind) {
    case 'once':
      return when.at > after ? [when.at] : [];
    case 'every': {
      const first = Math.max(1, Math.floor((after - when.from) / when.ms) + 1);
      return Array.from({ length: count }, (_, n) => when.from + (first + n) * when.ms);
    }
    case 'steps':
      return stepsAfter(when, zone, after, count);
    case 'cron':
      return cronOf(when.expression, zone)
        .nextRuns(count, new Date(after))
        .map((date) => date.getTime());
  }
}

export function nextTime(when: RoutineTime, zone: string, after: number): number | undefined {
  return nextTimes(when, zone, after)[0];
}

/** The times from `due` to `now`, with `due` itself; at most 1,000. */
export function missedTimes(
  when: RoutineTime,
  zone: string,
  { due, now }: Readonly<{ due: number; now: number }>,
): readonly number[] {
  const missed = [due];
  for (let last = due; missed.length < mostMissed;) {
    const next = nextTime(when, zone, last);
    if (next === undefined || next > now) break;
    missed.push(next);
    last = next;
  }
  return missed;
}

/** The shortest time in milliseconds between two of the next 60 times. Undefined if there is only one. */
export function shortestGap(when: RoutineTime, zone: string, now: number): number | undefined {
  const times = nextTimes(when, zone, now, samples);
  const gaps = times.slice(1).map((at, n) => at - (times[n] ?? at));
  return gaps.length === 0 ? undefined : Math.min(...gaps);
}

export type LocalDate = Readonly<Record<'year' | 'month' | 'day', number>>;

/**
 * Moves a date by the calendar. If a month lacks the day, its last one counts: 31 January plus a month is the end of
 * February.
 */
export function shiftDate(
  { year, month, day }: LocalDate,
  { days = 0, months = 0 }: Readonly<{ days?: number; months?: number }>,
): LocalDate {
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  const date = new Date(Date.UTC(year, month - 1 + months, Math.min(day, last) + days));
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** The date and time at a place. `clock` is the time of day there, in seconds after midnight. */
export function localDate(at: number, timeZone: string): LocalDate & Readonly<{ clock: number }> {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    hourCycle: 'h23',
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const clock = (part('hour') * 60 + part('minute')) * 60 + part('second');
  return { year: part('year'), month: part('month'), day: part('day'), clock };
}

/**
 * The time of a date and time of day at a place. A time that the clocks skip is the first one after it; one that comes
 * twice is the first. Undefined: there is no such date.
 */
export function timeInZone(
  { year, month, day, clock }: LocalDate & Readonly<{ clock: number }>,
  zone: string,
): number | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  const [hour, minute] = [Math.floor(clock / 3_600), Math.floor(clock / 60) % 60];
  if (date.getUTCMonth() !== month - 1 || hour > 23) return undefined;
  const dayBefore = date.getTime() - 36 * 3_600_000;
  const at = nextTime({ kind: 'cron', expression: `${minute} ${hour} ${day} ${month} *` }, zone, dayBefore);
  return at === undefined ? undefined : at + (clock % 60) * 1_000;
}

/** Each step is counted from the first day, so that a short month moves only its own date. */
function stepsAfter(
  { unit, count, from, clock }: Extract<RoutineTime, { kind: 'steps' }>,
  zone: string,
  after: number,
  most: number,
): readonly number[] {
  const first = localDate(from, zone);
  const longestMs = (unit === 'month' ? 31 : 1) * count * 24 * 3_600_000;
  const times: number[] = [];
  // Begins with a step that is surely not later than the wanted one.
  for (let n = Math.max(0, Math.floor((after - from) / longestMs) - 1); times.length < most; n++) {
    const date = shiftDate(first, unit === 'month' ? { months: n * count } : { days: n * count });
    const at = timeInZone({ ...date, clock }, zone);
    if (at === undefined) break;
    if (at > after && at >= from) times.push(at);
  }
  return times;
}

function cronOf(expression: string, timezone: string): Croner.Cron {
  const { Cron } = croner();
  // Lists of hours are fixed times, too, so that each fires once when the clocks change.
  const mode = expression.split(' ').length === 6 ? '6-part' : '5-part';
  return new Cron(expression, { timezone, mode, fixedTimeRule: 'no-wildcard' });
}
