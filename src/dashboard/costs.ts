import { localDay, operatorZone } from '../core/local-time.ts';
import { addTokens, noTokens, type Tokens } from '../core/model.ts';
import { costOf } from '../limits/budgets.ts';
import type { StatsRow } from '../store/store.ts';
import { barChart, share } from './bar-chart.ts';
import { cell, code, rowHead, search, select, table, time } from './elements.ts';
import { html, type Html } from './html.ts';
import type { Page } from './page.ts';

const dayMs = 86_400_000;
const mostLines = 20;
const periods = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const;

type Priced = StatsRow & Readonly<{ usd: number | undefined }>;
type Sum = Readonly<{
  key: string;
  of: readonly Priced[];
  requests: number;
  tokens: number;
  usd: number | undefined;
}>;

/** Costs by day, person, skill, conversation and model. Dollars are shown only for models with prices (U10, U12). */
export const costsPage: Page = {
  path: '/costs',
  title: 'Costs',
  async main({ ask, query, config, now }) {
    const chosen = periods.find(([days]) => days === query.get('days'))?.[0] ?? '30';
    const zone = operatorZone(config);
    const today = Date.parse(localDay(now, zone));
    const days = Array.from({ length: Number(chosen) }, (_, at) =>
      new Date(today - (Number(chosen) - 1 - at) * dayMs).toISOString().slice(0, 10),
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
        ${dollars(all?.usd)}. Days are those of ${zone}.
      </p>
      <h2>Dollars by day</h2>
      ${barChart('Dollars by day', moneyBars)}
      <h2>Tokens by day</h2>
      ${barChart('Tokens by day', tokenBars)}
      ${part('People', rows, ({ sender }) => sender)}${part('Skills', rows, ({ skill }) => (skill === '' ? '(main agent)' : skill), ofRuns)}
      ${part('Conversations', rows, ({ conversation }) => conversation)}${part('Models', rows, ({ model }) => model)}`;
  },
};

type Column = readonly [heading: string, of: (rows: readonly Priced[]) => Html | string];

/** Columns of skills. A run counts on the day on which it began. */
const ofRuns: readonly Column[] = [
  ['Runs', (rows) => number(sum(rows, ({ runs }) => runs))],
  ['Steps', (rows) => number(sum(rows, ({ steps }) => steps))],
  ['Failed', (rows) => number(sum(rows, ({ failures }) => failures))],
  ['Last run', (rows) => lastRun(rows)],
];

function lastRun(rows: readonly Priced[]): Html | string {
  const at = Math.max(...rows.map(({ lastRunAt }) => lastRunAt ?? 0));
  return at === 0 ? '' : time(at);
}

function part(
  title: string,
  rows: readonly Priced[],
  keyOf: (row: Priced) => string,
  more: readonly Column[] = [],
): Html {
  const sums = sumsBy(rows, keyOf).toSorted((a, b) => b.tokens - a.tokens);
  const most = sums[0]?.tokens ?? 0;
  const lines = sums
    .slice(0, mostLines)
    .map(({ key, of, requests, tokens, usd }) => [
      rowHead(code(key)),
      cell(share(tokens, most)),
      cell(number(tokens)),
      cell(number(requests)),
      cell(dollars(usd)),
      ...more.map(([, valueOf]) => cell(valueOf(of))),
    ]);
  const left = sums.length > mostLines ? html`<p>and ${sums.length - mostLines} more</p>` : html``;
  return html`<h2>${title}</h2>
    ${table(title, [title, 'Share', 'Tokens', 'Requests', 'Dollars', ...more.map(([heading]) => heading)], lines, 'No model was used.')}${left}`;
}

function sumsBy(rows: readonly Priced[], keyOf: (row: Priced) => string): readonly Sum[] {
  return [...Map.groupBy(rows, keyOf)].map(([key, of]) => ({
    key,
    of,
    requests: sum(of, ({ requests }) => requests),
    tokens: total(of.reduce((sum, { tokens }) => addTokens(sum, tokens), noTokens)),
    usd: of.some(({ usd }) => usd !== undefined) ? of.reduce((sum, { usd = 0 }) => sum + usd, 0) : undefined,
  }));
}

function sum(rows: readonly Priced[], of: (row: Priced) => number): number {
  return rows.reduce((all, row) => all + of(row), 0);
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
