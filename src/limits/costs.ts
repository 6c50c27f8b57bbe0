import type { Config } from '../config/complete-config.ts';
import { pricesOf } from '../config/model-prices.ts';
import { localDay, untilNextMonth } from '../core/local-time.ts';
import { aliasInStats, areSearches, asPriced, hourFactor, resolveModel, type Tokens } from '../core/model.ts';

const dayMs = 86_400_000;
const million = 1_000_000;

/** US dollars for a thousand searches of the model's server, by Anthropic's price list of November 2026. */
const searchPrice = 10;

/** How many whole days before today a forecast looks at. */
const daysLooked = 7;

/** What a model may write at most, if its alias does not say. */
const longestAnswer = 16_000;

/**
 * US dollars by the prices of the alias or the list price; undefined if neither is known. `model` is its name in
 * statistics.
 */
export function costOf({ models, tools }: Config, model: string, tokens: Tokens): number | undefined {
  if (areSearches(model)) return (tokens.input * (tools.web_search?.price ?? searchPrice)) / 1_000;
  const settings = resolveModel(models, aliasInStats(model));
  const prices = settings && pricesOf(settings);
  if (prices === undefined) return undefined;
  const { input, output, cacheRead, cacheWrite } = asPriced(tokens);
  return (
    (input * prices.in +
      output * prices.out +
      cacheRead * prices.cacheRead +
      cacheWrite * prices.cacheWrite) /
    million
  );
}

/**
 * The most that so many calls of a model can cost, in US dollars: each fills the window, and the cache keeps all of it
 * for an hour. Undefined if the window or a price is unknown.
 */
export function worstCost(
  { models }: Config,
  { alias, window, calls }: Readonly<{ alias: string; window: number | undefined; calls: number }>,
): number | undefined {
  const settings = resolveModel(models, alias);
  const prices = settings && pricesOf(settings);
  if (prices === undefined || window === undefined) return undefined;
  const { maxTokens = longestAnswer } = settings ?? {};
  const perToken = Math.max(prices.in, prices.cacheWrite * hourFactor);
  return (calls * (window * perToken + maxTokens * prices.out)) / million;
}

export type Forecast = Readonly<{
  spent: number;
  /** Undefined while there is no whole day to judge by. */
  atEnd: number | undefined;
}>;

/**
 * What this calendar month has cost, and what it costs at its end if the days to come are like the last seven whole days.
 * Days before the first use do not count.
 */
export function monthForecast(usdByDay: ReadonlyMap<string, number>, now: number, zone: string): Forecast {
  const today = localDay(now, zone);
  const month = today.slice(0, 7);
  const spent = [...usdByDay].reduce((sum, [day, usd]) => (day.startsWith(month) ? sum + usd : sum), 0);
  const days = daysBefore(today, daysLooked);
  const whole = days.slice(days.findIndex((day) => usdByDay.has(day)));
  if (!days.some((day) => usdByDay.has(day))) return { spent, atEnd: undefined };
  const perDay = whole.reduce((sum, day) => sum + (usdByDay.get(day) ?? 0), 0) / whole.length;
  return { spent, atEnd: spent + (perDay * untilNextMonth(now, zone)) / dayMs };
}

/** The first day that `monthForecast` needs. */
export function firstOfForecast(now: number, zone: string): string {
  const today = localDay(now, zone);
  const [first = today] = [`${today.slice(0, 7)}-01`, ...daysBefore(today, daysLooked)].toSorted();
  return first;
}

function daysBefore(today: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) =>
    new Date(Date.parse(today) - (count - at) * dayMs).toISOString().slice(0, 10),
  );
}
