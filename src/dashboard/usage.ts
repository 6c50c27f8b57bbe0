import { localDay, operatorZone } from '../core/local-time.ts';
import { addTokens, noTokens, type Tokens } from '../core/model.ts';
import { costOf } from '../limits/costs.ts';
import type { PricedRow } from '../operator/look/usage-csv.ts';
import type { PageView } from './page.ts';

const dayMs = 86_400_000;

export type Sum = Readonly<{
  key: string;
  of: readonly PricedRow[];
  requests: number;
  tokens: number;
  /** Undefined if no model of it has a price. */
  usd: number | undefined;
}>;

/** What was used on these days (`2026-11-28`) and between them. */
export async function usedBetween(
  { ask, config }: PageView,
  first: string,
  last: string,
): Promise<readonly PricedRow[]> {
  return (await ask('stats', first))
    .filter(({ day }) => day <= last)
    .map((row) => ({ ...row, usd: costOf(config, row.model, row.tokens) }));
}

/** Today's date in the operator's zone, such as `2026-11-28`. */
export function today({ now, config }: PageView): string {
  return localDay(now, operatorZone(config));
}

/** The last `count` days up to this one, the oldest first. */
export function daysUpTo(last: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) =>
    new Date(Date.parse(last) - (count - 1 - at) * dayMs).toISOString().slice(0, 10),
  );
}

export function sumsBy(rows: readonly PricedRow[], keyOf: (row: PricedRow) => string): readonly Sum[] {
  return [...Map.groupBy(rows, keyOf)].map(([key, of]) => ({ ...sumOf(of), key, of }));
}

export function sumOf(of: readonly PricedRow[]): Omit<Sum, 'key' | 'of'> {
  return {
    requests: sum(of, ({ requests }) => requests),
    tokens: total(of.reduce((all, { tokens }) => addTokens(all, tokens), noTokens)),
    usd:
      of.length === 0 || of.some(({ usd }) => usd !== undefined)
        ? of.reduce((all, { usd = 0 }) => all + usd, 0)
        : undefined,
  };
}

export function sum(rows: readonly PricedRow[], of: (row: PricedRow) => number): number {
  return rows.reduce((all, row) => all + of(row), 0);
}

export function total({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return input + output + cacheRead + cacheWrite;
}

export function number(value: number): string {
  return value.toLocaleString('en');
}

export function dollars(usd: number | undefined): string {
  return usd === undefined ? 'no price known' : `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)}`;
}
