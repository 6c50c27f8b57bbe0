import { operatorZone } from '../core/local-time.ts';
import { usageCsv, type PricedRow } from '../operator/look/usage-csv.ts';
import { barChart, share } from './bar-chart.ts';
import { budgetLine } from './budget-line.ts';
import { cell, code, figure, person, conversationLink, rowHead, table, time } from './elements.ts';
import { search, select } from './fields.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import type { Download, Page, PageView } from './page.ts';
import { paged } from './paged.ts';
import { daysUpTo, dollars, number, sum, sumOf, sumsBy, today, usedBetween } from './usage.ts';

const spans = [
  ['7', 'last 7 days'],
  ['30', 'last 30 days'],
  ['90', 'last 90 days'],
] as const;
const months = 12;

type Period = Readonly<{ chosen: string; days: readonly string[] }>;

/** Costs by day, person, skill, conversation and model. Dollars are shown only for models with prices (U10, U12). */
export const costsPage: Page = {
  path: '/costs',
  title: 'Costs',
  group: 'Record',
  async main(view) {
    const { chosen, days } = periodOf(view);
    const rows = await usedBetween(view, days[0] ?? '', days.at(-1) ?? '');
    const byDay = new Map(sumsBy(rows, ({ day }) => day).map((one) => [one.key, one]));
    const all = sumOf(rows);
    const isPriced = all.usd !== undefined;
    const bars = days.map((day) => {
      const { usd, tokens } = byDay.get(day) ?? { usd: isPriced ? 0 : undefined, tokens: 0 };
      const shown = `${isPriced ? `${dollars(usd ?? 0)}, ` : ''}${number(tokens)} tokens`;
      return { label: day, value: isPriced ? (usd ?? 0) : tokens, shown };
    });
    const choices = [...spans, ...monthsUpTo(today(view)).map((month) => [month, nameOf(month)] as const)];
    return html`${search('/costs', 'Choose a period', [select('period', 'Period', chosen, choices)])}
      <p class="lead">
        <strong>${dollars(all.usd)}</strong> for ${number(all.requests)} model requests and
        ${number(all.tokens)} tokens. Days are those of ${operatorZone(view.config)}.
        <a href="/costs.csv?period=${chosen}">Download as CSV</a>
      </p>
      ${await budgetLine(view)}
      <h2>${isPriced ? 'Dollars' : 'Tokens'} by day</h2>
      ${barChart(isPriced ? 'Dollars by day' : 'Tokens by day', bars)}
      ${part(view, 'People', rows, { keyOf: ({ sender }) => sender, show: (id) => person(view, id) })}
      ${part(view, 'Skills', rows, { keyOf: ({ skill }) => skill, show: skillName, more: ofRuns(view) })}
      ${part(view, 'Conversations', rows, { keyOf: ({ conversation }) => conversation, show: (key) => conversationLink(view, key) })}
      ${part(view, 'Models', rows, { keyOf: ({ model }) => model, show: code })}`;
  },
};

export const costsFile: Download = {
  path: '/costs.csv',
  async text(view) {
    const { chosen, days } = periodOf(view);
    const rows = await usedBetween(view, days[0] ?? '', days.at(-1) ?? '');
    return { name: `costs-${chosen}.csv`, text: `${usageCsv(rows)}\n` };
  },
};

/** The days of a span, or of a month such as `2026-11`. */
function periodOf(view: PageView): Period {
  const asked = view.query.get('period') ?? '';
  const last = today(view);
  if (monthsUpTo(last).includes(asked)) {
    const [year = 0, month = 0] = asked.split('-').map(Number);
    const count = new Date(Date.UTC(year, month, 0)).getUTCDate();
    return { chosen: asked, days: daysUpTo(`${asked}-${count}`, count) };
  }
  const chosen = spans.find(([days]) => days === asked)?.[0] ?? '30';
  return { chosen, days: daysUpTo(last, Number(chosen)) };
}

/** This month and those before it, such as `2026-11`. */
function monthsUpTo(last: string): readonly string[] {
  const [year = 0, month = 0] = last.split('-').map(Number);
  return Array.from({ length: months }, (_, at) =>
    new Date(Date.UTC(year, month - 1 - at, 1)).toISOString().slice(0, 7),
  );
}

function nameOf(month: string): string {
  return new Date(`${month}-15`).toLocaleDateString('en-GB', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

function skillName(name: string): Html {
  return name === '' ? html`main agent` : html`<a href="/skill?name=${encodeURIComponent(name)}">${name}</a>`;
}

type Column = readonly [heading: string, of: (rows: readonly PricedRow[]) => Html | string];

/** Columns of skills. A run counts on the day on which it began. */
function ofRuns(view: PageView): readonly Column[] {
  return [
    ['Runs', (rows) => number(sum(rows, ({ runs }) => runs))],
    ['Steps', (rows) => number(sum(rows, ({ steps }) => steps))],
    ['Failed', (rows) => number(sum(rows, ({ failures }) => failures))],
    [
      'Last run',
      (rows) => {
        const at = Math.max(...rows.map(({ lastRunAt }) => lastRunAt ?? 0));
        return at === 0 ? nothing : time(view, at);
      },
    ],
  ];
}

type Part = Readonly<{
  keyOf(row: PricedRow): string;
  show(key: string): Html;
  more?: readonly Column[];
}>;

function part(
  view: PageView,
  title: string,
  of: readonly PricedRow[],
  { keyOf, show, more = [] }: Part,
): Html {
  const sums = sumsBy(of, keyOf).toSorted((a, b) => b.tokens - a.tokens);
  const most = sums[0]?.tokens ?? 0;
  const { rows, filter, pages } = paged(view, sums, {
    ...{ one: title.toLowerCase().replace(/s$/, ''), many: title.toLowerCase(), size: 20 },
    prefix: `${title.toLowerCase()}-`,
    words: ({ key }) => `${key} ${view.names.person(key) ?? ''} ${view.names.place(key) ?? ''}`,
  });
  const lines = rows.map(({ key, of: its, requests, tokens, usd }) => [
    rowHead(show(key)),
    cell(share(tokens, most)),
    figure(number(tokens)),
    figure(number(requests)),
    figure(dollars(usd)),
    ...more.map(([, valueOf]) => figure(valueOf(its))),
  ]);
  const headings = [title, 'Share', 'Tokens', 'Requests', 'Dollars', ...more.map(([heading]) => heading)];
  return html`<h2>${title}</h2>
    ${filter}${table(title, headings, lines, 'No model was used.')}${pages}`;
}
