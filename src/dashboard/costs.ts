import { addTokens, noTokens, type Tokens } from '../core/model.ts';
import { costOf } from '../limits/budgets.ts';
import type { UsageRow } from '../store/store.ts';
import { barChart, share } from './bar-chart.ts';
import { cell, code, rowHead, search, select, table } from './elements.ts';
import { html, type Html } from './html.ts';
import type { Page } from './page.ts';

const dayMs = 86_400_000;
const mostLines = 20;
const periods = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const;

type Priced = UsageRow & Readonly<{ usd: number | undefined }>;
type Sum = Readonly<{ key: string; requests: number; tokens: number; usd: number | undefined }>;

/** Dollars only for models with prices (U10, U12). */
export const costsPage: Page = {
  path: '/costs',
  title: 'Costs',
  async main({ ask, query, config, now }) {
    const chosen = periods.find(([days]) => days === query.get('days'))?.[0] ?? '30';
    const days = Array.from({ length: Number(chosen) }, (_, at) =>
      new Date(now - (Number(chosen) - 1 - at) * dayMs).toISOString().slice(0, 10),
    );
    const rows = (await ask('stats', days[0] ?? '')).map((row) => ({
      ...row,
      usd: costOf(config, row.model, row.tokens),
    }));
    const ofDays = sumsBy(rows, ({ day }) => day);
    const dayBars = (shownOf: (sum: Sum | undefined) => Readonly<{ value: number; shown: string }>) =>
      days.map((day) => ({ label: day, ...shownOf(ofDays.find(({ key }) => key === day)) }));
    const tokenBars = dayBars((sum) => ({
      value: sum?.tokens ?? 0,
      shown: `${number(sum?.tokens ?? 0)} tokens`,
    }));
    const moneyBars = dayBars((sum) => ({ value: sum?.usd ?? 0, shown: dollars(sum?.usd) }));
    const all = sumsBy(rows, () => 'all')[0];
    return html`${search('/costs', 'Choose a period', [select('days', 'Period', chosen, periods)])}
      <p>
        ${number(all?.requests ?? 0)} model requests, ${number(all?.tokens ?? 0)} tokens,
        ${dollars(all?.usd)}. Days are in UTC.
      </p>
      <h2>Dollars by day</h2>
      ${barChart('Dollars by day', moneyBars)}
      <h2>Tokens by day</h2>
      ${barChart('Tokens by day', tokenBars)}
      ${part('People', rows, ({ sender }) => sender)}${part('Skills', rows, ({ skill }) => (skill === '' ? '(main agent)' : skill))}
      ${part('Conversations', rows, ({ conversation }) => conversation)}${part('Models', rows, ({ model }) => model)}`;
  },
};

function part(title: string, rows: readonly Priced[], keyOf: (row: Priced) => string): Html {
  const sums = sumsBy(rows, keyOf).toSorted((a, b) => b.tokens - a.tokens);
  const most = sums[0]?.tokens ?? 0;
  const lines = sums
    .slice(0, mostLines)
    .map(({ key, requests, tokens, usd }) => [
      rowHead(code(key)),
      cell(share(tokens, most)),
      cell(number(tokens)),
      cell(number(requests)),
      cell(dollars(usd)),
    ]);
  const more = sums.length > mostLines ? html`<p>and ${sums.length - mostLines} more</p>` : html``;
  return html`<h2>${title}</h2>
    ${table(title, [title, 'Share', 'Tokens', 'Requests', 'Dollars'], lines, 'No model was used.')}${more}`;
}

function sumsBy(rows: readonly Priced[], keyOf: (row: Priced) => string): readonly Sum[] {
  return [...Map.groupBy(rows, keyOf)].map(([key, of]) => ({
    key,
    requests: of.reduce((sum, { requests }) => sum + requests, 0),
    tokens: total(of.reduce((sum, { tokens }) => addTokens(sum, tokens), noTokens)),
    usd: of.some(({ usd }) => usd !== undefined) ? of.reduce((sum, { usd = 0 }) => sum + usd, 0) : undefined,
  }));
}

function total({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return input + output + cacheRead + cacheWrite;
}

function number(value: number): string {
  return value.toLocaleString('en');
}

function dollars(usd: number | undefined): string {
  return usd === undefined ? 'no price known' : `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)}`;
}
