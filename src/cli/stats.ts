import { costOf } from '../limits/costs.ts';
import { localDay, operatorZone } from '../core/local-time.ts';
import { type Tokens } from '../core/model.ts';
import { printable } from '../lib/text/text.ts';
import { shownVersion, type SkillQuality } from '../operator/look/skill-quality.ts';
import { usageCsv, type PricedRow } from '../operator/look/usage-csv.ts';
import { askBot } from './ask-bot.ts';
import { openOperatorConfig } from './open-config.ts';
import type { SharedOptions } from './command.ts';
import { print, printJson, printList } from './console.ts';

const dayMs = 86_400_000;

/** Shows what was used. Dollars are shown only for models with prices (U10, U12). */
export async function stats({
  config: flag,
  json,
  csv,
  days,
  month,
}: SharedOptions &
  Readonly<{ days: number; month: string | undefined; csv: boolean | undefined }>): Promise<void> {
  const config = await openOperatorConfig(flag);
  const zone = operatorZone(config);
  const today = localDay(Date.now(), zone);
  const first =
    month === undefined
      ? new Date(Date.parse(today) - (days - 1) * dayMs).toISOString().slice(0, 10)
      : `${month}-01`;
  const rows = (await askBot(flag, 'stats', first))
    .filter(({ day }) => month === undefined || day.startsWith(month))
    .map((row) => ({ ...row, usd: costOf(config, row.model, row.tokens) }));
  if (json === true) return printJson({ usage: rows, thumbs: await askBot(flag, 'skill quality') });
  if (csv === true) return print(usageCsv(rows));
  if (rows.length === 0)
    return print(`No model was used ${month === undefined ? `since ${first}` : `in ${month}`}.`);
  const parts = [
    table('day', rows, ({ day }) => day),
    table('skill', rows, ({ skill }) => skill, ofRuns(zone)),
    table('person', rows, ({ sender }) => sender),
    table('model', rows, ({ model }) => model),
  ];
  const rated = await askBot(flag, 'skill quality');
  if (rated.length > 0) parts.push(qualityTable(rated, zone));
  for (const [n, lines] of parts.entries()) {
    if (n > 0) print('');
    printList(lines);
  }
}

/** What people think of each version of a skill, all that is kept (U17). */
function qualityTable(rows: readonly SkillQuality[], zone: string): readonly string[] {
  const line = (name: string, ...cells: readonly string[]): string =>
    [name.padEnd(28), ...cells.map((cell) => cell.padStart(10))].join(' ');
  return [
    line('thumbs by skill', 'version', 'up', 'down', 'since'),
    ...rows.map(({ skill, version, up, down, first }) =>
      line(printable(skill), version.slice(0, shownVersion), String(up), String(down), localDay(first, zone)),
    ),
  ];
}

type Priced = PricedRow;
type Column = Readonly<{ heading: string; width: number; of(rows: readonly Priced[]): string }>;

const requests = numbers('requests', 9, (row) => row.requests);
const tokens = numbers('tokens', 14, (row) => total(row.tokens));
const dollars: Column = {
  ...{ heading: 'dollars', width: 9 },
  of: (rows) =>
    rows.some(({ usd }) => usd !== undefined) ? sum(rows, ({ usd }) => usd ?? 0).toFixed(2) : '-',
};

/** Columns of a skill's runs, narrow enough for 80 characters together with tokens and dollars. */
function ofRuns(zone: string): readonly Column[] {
  return [
    numbers('runs', 6, (row) => row.runs),
    numbers('steps', 7, (row) => row.steps),
    numbers('failed', 7, ({ failures }) => failures),
    { ...tokens, width: 13 },
    { ...dollars, width: 8 },
    { heading: 'last used', width: 11, of: (rows) => lastUsed(rows, zone) },
  ];
}

/**
 * The last day on which it was used. For the main agent, only the day is known.
 */
function lastUsed(rows: readonly Priced[], zone: string): string {
  const days = rows.map(({ day, lastRunAt }) => (lastRunAt === undefined ? day : localDay(lastRunAt, zone)));
  return days.toSorted().at(-1) ?? '';
}

function numbers(heading: string, width: number, of: (row: Priced) => number): Column {
  return {
    ...{ heading, width },
    of: (rows) => sum(rows, of).toLocaleString('en'),
  };
}

/** A table of groups: days in order, at most a month of them; of other groups the 20 used most. */
function table(
  name: string,
  rows: readonly Priced[],
  keyOf: (row: Priced) => string,
  shown: readonly Column[] = [requests, tokens, dollars],
): readonly string[] {
  const groups = [...Map.groupBy(rows, keyOf)];
  const used = (of: readonly Priced[]): number => sum(of, (row) => total(row.tokens));
  const runs = (of: readonly Priced[]): number => sum(of, (row) => row.runs);
  const most = name === 'day' ? 31 : 20;
  if (name !== 'day') groups.sort(([, a], [, b]) => used(b) - used(a) || runs(b) - runs(a));
  const width = 79 - shown.reduce((sum, column) => sum + column.width + 1, 0);
  const line = (first: string, cellOf: (column: Column) => string): string =>
    [first.padEnd(Math.min(28, width)), ...shown.map((column) => cellOf(column).padStart(column.width))].join(
      ' ',
    );
  const lines = groups
    .slice(0, most)
    .map(([key, of]) => line(key === '' ? '(none)' : printable(key), (column) => column.of(of)));
  const more = groups.length > most ? [`and ${groups.length - most} more: --json has them all`] : [];
  return [line(name, ({ heading }) => heading), ...lines, ...more];
}

function sum(rows: readonly Priced[], of: (row: Priced) => number): number {
  return rows.reduce((all, row) => all + of(row), 0);
}

function total({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return input + output + cacheRead + cacheWrite;
}
