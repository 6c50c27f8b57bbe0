import { costOf } from '../limits/budgets.ts';
import { addTokens, noTokens, type Tokens } from '../core/model.ts';
import { csvLine } from '../lib/text/csv.ts';
import type { UsageRow } from '../store/store.ts';
import { askBot } from './ask-bot.ts';
import { openOperatorConfig } from './open-config.ts';
import type { Shared } from './command.ts';
import { print, printJson } from './console.ts';

const dayMs = 86_400_000;

/** Dollars only for models with prices (U10, U12). */
export async function stats({
  config: flag,
  json,
  csv,
  days,
  month,
}: Shared & Readonly<{ days: number; month: string | undefined; csv: boolean | undefined }>): Promise<void> {
  const config = await openOperatorConfig(flag);
  const first =
    month === undefined
      ? new Date(Date.now() - (days - 1) * dayMs).toISOString().slice(0, 10)
      : `${month}-01`;
  const rows = (await askBot(flag, 'stats', first))
    .filter(({ day }) => month === undefined || day.startsWith(month))
    .map((row) => ({ ...row, usd: costOf(config, row.model, row.tokens) }));
  if (json === true) return printJson(rows);
  if (csv === true) return print([columns, ...rows.map(cells)].map(csvLine).join('\n'));
  if (rows.length === 0)
    return print(`No model was used ${month === undefined ? `since ${first}` : `in ${month}`}.`);
  const parts = [
    ['day', (row: UsageRow) => row.day],
    ['skill', (row: UsageRow) => (row.skill === '' ? '(none)' : row.skill)],
    ['person', (row: UsageRow) => row.sender],
    ['model', (row: UsageRow) => row.model],
  ] as const;
  print(parts.map(([name, keyOf]) => table(name, rows, keyOf)).join('\n\n'));
}

const columns = [
  ...['day', 'person', 'conversation', 'skill', 'model', 'requests'],
  ...['input', 'output', 'cache_read', 'cache_write', 'dollars'],
];

/** In the order of `columns`; no dollars for a model without prices. */
function cells({ tokens, usd, ...row }: Priced): readonly string[] {
  const { input, output, cacheRead, cacheWrite } = tokens;
  return [
    ...[row.day, row.sender, row.conversation, row.skill, row.model],
    ...[row.requests, input, output, cacheRead, cacheWrite].map(String),
    usd?.toFixed(6) ?? '',
  ];
}

type Priced = UsageRow & Readonly<{ usd: number | undefined }>;

/** Days in order, a month of them at most; of others the 20 used most. */
function table(name: string, rows: readonly Priced[], keyOf: (row: UsageRow) => string): string {
  const groups = [...Map.groupBy(rows, keyOf)].map(([key, of]) => ({
    key,
    requests: of.reduce((sum, { requests }) => sum + requests, 0),
    tokens: total(of.reduce((sum, { tokens }) => addTokens(sum, tokens), noTokens)),
    usd: of.some(({ usd }) => usd !== undefined)
      ? of.reduce((sum, { usd }) => sum + (usd ?? 0), 0).toFixed(2)
      : '-',
  }));
  const most = name === 'day' ? 31 : 20;
  if (name !== 'day') groups.sort((a, b) => b.tokens - a.tokens);
  const lines = groups
    .slice(0, most)
    .map(({ key, requests, tokens, usd }) =>
      [
        key.padEnd(28),
        String(requests).padStart(9),
        tokens.toLocaleString('en').padStart(14),
        usd.padStart(9),
      ].join(' '),
    );
  const more = groups.length > most ? [`and ${groups.length - most} more: --json has them all`] : [];
  return [
    [name.padEnd(28), 'requests'.padStart(9), 'tokens'.padStart(14), 'dollars'.padStart(9)].join(' '),
    ...lines,
    ...more,
  ].join('\n');
}

function total({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return input + output + cacheRead + cacheWrite;
}
