import { costOf } from '../limits/budgets.ts';
import { addTokens, noTokens, type Tokens } from '../core/model.ts';
import type { UsageRow } from '../store/store.ts';
import { askBot } from './ask-bot.ts';
import { openOperatorConfig } from './open-config.ts';
import type { Shared } from './command.ts';
import { print, printJson } from './console.ts';

const dayMs = 86_400_000;

/** Dollars only for models with prices (U10, U12). */
export async function stats({ config: flag, json, days }: Shared & { days: number }): Promise<void> {
  const config = await openOperatorConfig(flag);
  const first = new Date(Date.now() - (days - 1) * dayMs).toISOString().slice(0, 10);
  const rows = (await askBot(flag, 'stats', first)).map((row) => ({
    ...row,
    usd: costOf(config, row.model, row.tokens),
  }));
  if (json === true) return printJson(rows);
  if (rows.length === 0) return print(`No model was used since ${first}.`);
  const parts = [
    ['day', (row: UsageRow) => row.day],
    ['skill', (row: UsageRow) => (row.skill === '' ? '(none)' : row.skill)],
    ['person', (row: UsageRow) => row.sender],
    ['model', (row: UsageRow) => row.model],
  ] as const;
  print(parts.map(([name, keyOf]) => table(name, rows, keyOf)).join('\n\n'));
}

type Priced = UsageRow & Readonly<{ usd: number | undefined }>;

/** Days in order, others by use; 20 lines at most. */
function table(name: string, rows: readonly Priced[], keyOf: (row: UsageRow) => string): string {
  const groups = [...Map.groupBy(rows, keyOf)].map(([key, of]) => ({
    key,
    requests: of.reduce((sum, { requests }) => sum + requests, 0),
    tokens: total(of.reduce((sum, { tokens }) => addTokens(sum, tokens), noTokens)),
    usd: of.some(({ usd }) => usd !== undefined)
      ? of.reduce((sum, { usd }) => sum + (usd ?? 0), 0).toFixed(2)
      : '-',
  }));
  if (name !== 'day') groups.sort((a, b) => b.tokens - a.tokens);
  const lines = groups
    .slice(0, 20)
    .map(({ key, requests, tokens, usd }) =>
      [
        key.padEnd(28),
        String(requests).padStart(9),
        tokens.toLocaleString('en').padStart(14),
        usd.padStart(9),
      ].join(' '),
    );
  const more = groups.length > 20 ? [`and ${groups.length - 20} more: --json has them all`] : [];
  return [
    [name.padEnd(28), 'requests'.padStart(9), 'tokens'.padStart(14), 'dollars'.padStart(9)].join(' '),
    ...lines,
    ...more,
  ].join('\n');
}

function total({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return input + output + cacheRead + cacheWrite;
}
