import { csvLine } from '../../lib/text/csv.ts';
import type { StatsRow } from '../../store/store.ts';

export type PricedRow = StatsRow & Readonly<{ usd: number | undefined }>;

const columns = [
  ...['day', 'person', 'conversation', 'skill', 'model', 'requests'],
  ...['input', 'output', 'cache_read', 'cache_write', 'dollars'],
  ...['runs', 'steps', 'failures', 'last_run'],
];

/** What was used as CSV, a line for each row. Dollars are empty for a model without prices. */
export function usageCsv(rows: readonly PricedRow[]): string {
  return [columns, ...rows.map(cells)].map(csvLine).join('\n');
}

function cells({ tokens, usd, ...row }: PricedRow): readonly string[] {
  const { input, output, cacheRead, cacheWrite } = tokens;
  return [
    ...[row.day, row.sender, row.conversation, row.skill, row.model],
    ...[row.requests, input, output, cacheRead, cacheWrite].map(String),
    usd?.toFixed(6) ?? '',
    ...[row.runs, row.steps, row.failures].map(String),
    row.lastRunAt === undefined ? '' : new Date(row.lastRunAt).toISOString(),
  ];
}
