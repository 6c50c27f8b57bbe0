import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from '../../src/config/parse-config.ts';
import { budgetLine } from '../../src/dashboard/budget-line.ts';
import type { PageView } from '../../src/dashboard/page.ts';
import type { StatsRow } from '../../src/store/store.ts';

function row(day: string, usd: number): StatsRow {
  const tokens = { input: 0, output: usd * 1_000_000, cacheRead: 0, cacheWrite: 0 };
  const of = { sender: 'telegram:42', conversation: 'telegram:42', skill: '', model: 'default' };
  return { day, ...of, requests: 1, tokens, runs: 0, steps: 0, failures: 0, lastRunAt: undefined };
}

async function shown(limits: string, rows: readonly StatsRow[]): Promise<string> {
  const parsed = parseConfig(
    `[bot]\ntimezone = "UTC"\n[models.default]\nmodel = "m"\nprice_in = 0\nprice_out = 1\n${limits}`,
    { env: {} },
  );
  assert.ok(parsed.ok, JSON.stringify(parsed));
  const view: Pick<PageView, 'ask' | 'config' | 'now'> = {
    config: parsed.config,
    now: Date.parse('2026-11-22T12:00:00Z'),
    ask: (async (_: string, first: string) =>
      rows.filter(({ day }) => day >= first)) as unknown as PageView['ask'],
  };
  const { markup } = await budgetLine(view as PageView);
  return markup.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

test('G6 today and this month stand beside their limits, with a forecast of the month’s end', async () => {
  const rows = [row('2026-10-31', 100), row('2026-11-01', 10), row('2026-11-21', 4), row('2026-11-22', 1)];
  const limits = '[limits.global]\nusd_per_day = 4\nusd_per_month = 60\n';
  const text = await shown(limits, rows);
  assert.match(text, /Today \$1\.00 25 % of \$4\.00 a day, by \[limits\.global\]/);
  assert.match(text, /This month \$15\.00 25 % of \$60\.00 a month, by \[limits\.global\]/);
  // Eight and a half days at four dollars.
  assert.match(text, /About \$49\.00 by the end of the month, if it continues like the last seven days/);
  const bare = await shown('', [row('2026-11-22', 1)]);
  assert.match(bare, /This month \$1\.00 No limit a month: see \[limits\.global\]\./);
  assert.doesNotMatch(bare, /by the end of the month/);
});
