import { createRequire } from 'node:module';
import type * as Croner from 'croner';
import { once } from '../lib/async/mutex.ts';
import type { RoutineTime } from '../store/routines.ts';

const require = createRequire(import.meta.url);
/** Loaded on first use. */
const croner = once(() => require('croner') as typeof Croner);

/** More are not counted: a minute's routine after a week's downtime. */
const mostMissed = 1_000;
const samples = 60;

/** The next `count` times after `after`, milliseconds since 1970; fewer if they end. Throws if the expression is wrong. */
export function nextTimes(when: RoutineTime, zone: string, after: number, count = 1): readonly number[] {
  switch (when.kind) {
    case 'once':
      return when.at > after ? [when.at] : [];
    case 'every': {
      const first = Math.max(1, Math.floor((after - when.from) / when.ms) + 1);
      return Array.from({ length: count }, (_, n) => when.from + (first + n) * when.ms);
    }
    case 'cron':
      return cronOf(when.expression, zone)
        .nextRuns(count, new Date(after))
        .map((date) => date.getTime());
  }
}

export function nextTime(when: RoutineTime, zone: string, after: number): number | undefined {
  return nextTimes(when, zone, after)[0];
}

/** Due times from `due` to `now`, `due` included; at most 1,000. */
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

/** The shortest time between two of its next 60 firings; undefined if there is only one. */
export function shortestGap(when: RoutineTime, zone: string, now: number): number | undefined {
  const times = nextTimes(when, zone, now, samples);
  const gaps = times.slice(1).map((at, n) => at - (times[n] ?? at));
  return gaps.length === 0 ? undefined : Math.min(...gaps);
}

/** A time that the clocks skip is the first after it; one that comes twice is the first. Undefined: no such date. */
export function timeInZone(
  { year, month, day, hour, minute }: Readonly<Record<'year' | 'month' | 'day' | 'hour' | 'minute', number>>,
  zone: string,
): number | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || hour > 23 || minute > 59)
    return undefined;
  const dayBefore = date.getTime() - 36 * 3_600_000;
  return nextTime({ kind: 'cron', expression: `${minute} ${hour} ${day} ${month} *` }, zone, dayBefore);
}

function cronOf(expression: string, timezone: string): Croner.Cron {
  const { Cron } = croner();
  // Lists of hours are fixed times, too: each fires once when the clocks change.
  return new Cron(expression, { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard' });
}
