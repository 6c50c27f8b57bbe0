import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from '../../src/config/parse-config.ts';
import { firstOfForecast, monthForecast, worstCost } from '../../src/limits/costs.ts';

const near = (value: number | undefined, expected: number): void =>
  assert.ok(value !== undefined && Math.abs(value - expected) < 1e-9, `${value} is not ${expected}`);

test('G6 a forecast adds the days that are left, at the average of the last seven whole ones', () => {
  const days = new Map([
    ['2026-10-30', 50],
    ['2026-11-01', 10],
    ['2026-11-16', 7],
    ['2026-11-20', 7],
    ['2026-11-22', 1],
  ]);
  const { spent, atEnd } = monthForecast(days, Date.parse('2026-11-22T12:00:00Z'), 'UTC');
  near(spent, 25);
  // From the 16th to the 21st they are 14 dollars in six days; eight and a half days are left.
  near(atEnd, 25 + (14 / 6) * 8.5);
});

test('G6 a forecast at the start of a month looks back into the one before, and is none without a whole day', () => {
  const now = Date.parse('2026-12-01T00:00:00Z');
  near(monthForecast(new Map([['2026-11-30', 2]]), now, 'UTC').atEnd, 62);
  assert.deepEqual(monthForecast(new Map([['2026-12-01', 2]]), now, 'UTC'), { spent: 2, atEnd: undefined });
  assert.deepEqual(monthForecast(new Map(), now, 'UTC'), { spent: 0, atEnd: undefined });
  assert.equal(firstOfForecast(now, 'UTC'), '2026-11-24');
  assert.equal(firstOfForecast(Date.parse('2026-11-22T12:00:00Z'), 'UTC'), '2026-11-01');
});

test('G6 a month’s end is that of the zone, where a day may have 25 hours', () => {
  // Zurich, midnight before the day on which the clocks go back: 25 hours, and six days of 24 until November.
  const now = Date.parse('2026-10-24T22:00:00Z');
  near(monthForecast(new Map([['2026-10-24', 24]]), now, 'Europe/Zurich').atEnd, 24 + 25 + 6 * 24);
});

test('G6 the worst case is calls by window by the dearest price of a token, and what each may write', () => {
  const parsed = parseConfig(
    '[models.default]\nmodel = "m"\nprice_in = 2\nprice_out = 10\nprice_cache_write = 2.5\nmax_tokens = 1000\n[models.free]\nmodel = "u"\n',
    { env: {} },
  );
  assert.ok(parsed.ok, JSON.stringify(parsed));
  const { config } = parsed;
  near(worstCost(config, { alias: 'default', window: 100_000, calls: 3 }), 3 * (0.1 * 4 + 0.01));
  assert.equal(worstCost(config, { alias: 'default', window: undefined, calls: 3 }), undefined);
  assert.equal(worstCost(config, { alias: 'free', window: 100_000, calls: 3 }), undefined);
});
