import type { Config } from '../config/complete-config.ts';
import { localDay, operatorZone } from '../core/local-time.ts';
import type { Tokens } from '../core/model.ts';
import { once } from '../lib/async/mutex.ts';
import type { Clock } from '../lib/clock.ts';
import type { Store, UsageRow } from '../store/store.ts';
import { costOf } from './costs.ts';

/** Usage added up. `usd` covers only models whose prices are known. */
export type Spent = Readonly<{ tokens: number; usd: number }>;

export type SumKey = `sender ${string}` | `room ${string}` | `skill ${string}` | 'all';
export type Sums = ReadonlyMap<SumKey, Spent>;

export const nothingSpent: Spent = { tokens: 0, usd: 0 };

/** Messages may use sums this old, as usage is known only later; runs read them fresh. */
const staleMs = 1_000;
/** How often, in milliseconds, the month's days before today are read again: a write can be late. */
const closedMs = 60_000;

type SumOptions = Readonly<{
  config: () => Config;
  store: Readonly<{ usage: Store['usage']; usedBetween: Store['usedBetween'] }>;
  clock: Clock;
}>;

/** Sums of today and of this calendar month in the operator's zone, read once when they are first asked for. */
export type SumsNow = Readonly<{ today(): Promise<Sums>; month(): Promise<Sums> }>;

/** Makes the function that reads sums for one decision. Stale ones save a read of the store for each message. */
export function createSums({ config, store, clock }: SumOptions): (mayBeStale: boolean) => SumsNow {
  let read: Readonly<{ day: string; at: number; sums: Promise<Sums> }> | undefined;
  let closed: typeof read;
  const localToday = (): string => localDay(clock.now(), operatorZone(config()));

  function today(mayBeStale: boolean): Promise<Sums> {
    const now = clock.now();
    const day = localToday();
    if (!mayBeStale || read?.day !== day || now - read.at >= staleMs)
      read = { day, at: now, sums: store.usage({ day }).then((rows) => sumsOf(rows, config())) };
    return read.sums;
  }

  /** The days of this month before today. */
  async function before(): Promise<Sums> {
    const now = clock.now();
    const day = localToday();
    const first = `${day.slice(0, 7)}-01`;
    if (day === first) return new Map();
    if (closed?.day !== day || now - closed.at >= closedMs) {
      const yesterday = new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
      const sums = store.usedBetween(first, yesterday).then((rows) => sumsOf(rows, config()));
      closed = { day, at: now, sums };
      sums.catch(() => (closed = undefined));
    }
    return closed.sums;
  }

  return (mayBeStale) => {
    const now = once(() => today(mayBeStale));
    const month = once(async () => {
      const [earlier, ofToday] = await Promise.all([before(), now()]);
      const all = new Map(earlier);
      for (const [key, spent] of ofToday) all.set(key, added(all.get(key), spent));
      return all;
    });
    return { today: now, month };
  };
}

/** Adds up all scopes in one pass, because there are many rows and each message reads them. */
export function sumsOf(rows: readonly Omit<UsageRow, 'day'>[], config: Config): Sums {
  const sums = new Map<SumKey, Spent>();
  for (const row of rows) {
    const { sender, conversation, skill, model } = row;
    const spent = { tokens: count(row.tokens), usd: costOf(config, model, row.tokens) ?? 0 };
    // Threads count towards their room, whose key has no "/".
    const [room = ''] = conversation.split('/', 1);
    for (const key of [`sender ${sender}`, `room ${room}`, `skill ${skill}`, 'all'] as const)
      sums.set(key, added(sums.get(key), spent));
  }
  return sums;
}

function added(before: Spent = nothingSpent, { tokens, usd }: Spent): Spent {
  return { tokens: before.tokens + tokens, usd: before.usd + usd };
}

function count({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return input + output + cacheRead + cacheWrite;
}
