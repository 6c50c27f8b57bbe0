import { readlinkSync } from 'node:fs';

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/**
 * A time as `2026-01-02 (Friday), 13:04 Europe/Zurich`. It uses Intl only for other zones than the machine's, because
 * the first date of Intl takes 8 MB.
 */
export function localTime(at: number, zone: string): string {
  return `${zone === namedZone() ? ownTime(new Date(at)) : timeIn(at, zone)} ${zone}`;
}

export function systemZone(): string {
  return namedZone() ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The operator's time zone: `[bot] timezone`, or the machine's. Days of statistics and budgets follow it (U10). */
export function operatorZone({ bot }: Readonly<{ bot: Readonly<{ timezone?: string }> }>): string {
  return bot.timezone ?? systemZone();
}

/** The date in a zone, such as `2026-01-02`. */
export function localDay(at: number, zone: string): string {
  return localTime(at, zone).slice(0, 10);
}

/** Milliseconds until the next day begins in the zone. A day on which the clocks change is shorter or longer. */
export function untilNextDay(at: number, zone: string): number {
  return untilChange(at, 26 * hourMs, (time) => localDay(time, zone));
}

/** Milliseconds until the next calendar month begins in the zone. */
export function untilNextMonth(at: number, zone: string): number {
  return untilChange(at, 32 * 24 * hourMs, (time) => localDay(time, zone).slice(0, 7));
}

const hourMs = 3_600_000;

/** Milliseconds after which `of` is no longer what it is at that time; `most` is late enough. */
function untilChange(at: number, most: number, of: (time: number) => string): number {
  const now = of(at);
  let [before, after] = [0, most];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (of(at + middle) === now) before = middle;
    else after = middle;
  }
  return after;
}

export function isZone(zone: string): boolean {
  try {
    return timeIn(0, zone) !== '';
  } catch {
    return false;
  }
}

/** The machine's zone by TZ. */
const zones = new Map<string | undefined, string | undefined>();

/** The machine's zone, read without Intl; undefined if only Intl can tell. Like that of a Date, it is read once. */
function namedZone(): string | undefined {
  const { TZ } = process.env;
  if (!zones.has(TZ)) zones.set(TZ, readZone(TZ));
  return zones.get(TZ);
}

function readZone(TZ: string | undefined): string | undefined {
  if (TZ === 'UTC') return TZ;
  // A Date treats an unknown name as UTC.
  if (TZ !== undefined) return /^[A-Z]\w+\/[\w+/-]+$/.test(TZ) && differsFromUtc() ? TZ : undefined;
  try {
    const [, name] = readlinkSync('/etc/localtime').split('/zoneinfo/');
    return name === 'Etc/UTC' ? 'UTC' : name;
  } catch {
    return undefined;
  }
}

function differsFromUtc(): boolean {
  return [0, 6].some((month) => new Date(2026, month).getTimezoneOffset() !== 0);
}

function ownTime(date: Date): string {
  const [month, day, hour, minute] = [
    date.getMonth() + 1,
    date.getDate(),
    date.getHours(),
    date.getMinutes(),
  ].map((part) => String(part).padStart(2, '0'));
  return `${date.getFullYear()}-${month}-${day} (${weekdays[date.getDay()]}), ${hour}:${minute}`;
}

/** How many zones' formats are kept. To make one takes a tenth of a millisecond, and a turn asks for a dozen days. */
const keptFormats = 20;
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const kept = formats.get(timeZone);
  if (kept !== undefined) return kept;
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    weekday: 'long',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  if (formats.size >= keptFormats) formats.clear();
  formats.set(timeZone, made);
  return made;
}

function timeIn(at: number, timeZone: string): string {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const [year, month, day, weekday, hour, minute] = (
    ['year', 'month', 'day', 'weekday', 'hour', 'minute'] as const
  ).map((type) => parts.get(type) ?? '');
  return `${year}-${month}-${day} (${weekday}), ${hour}:${minute}`;
}
