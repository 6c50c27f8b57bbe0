import assert from 'node:assert/strict';
import { test } from 'node:test';
import Keyv from 'keyv';
import { parseConfig } from '../../src/config/parse-config.ts';
import type { Requester } from '../../src/core/tool.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createBudgets } from '../../src/limits/budgets.ts';
import type { UsageRow } from '../../src/store/store.ts';

const sections = ['', '.chat', '.skill', '.global'] as const;
const off = { usd_per_day: 0, tokens_per_day: 0, usd_per_month: 0 };

const ann: Requester = {
  conversation: { channel: 'slack', chat: 'C1', thread: '1.2' },
  ...{ chatType: 'private', external: false, sender: 'slack:U1', kind: 'person' },
};

/** A use that costs as many dollars as it is given. */
function use(day: string, usd: number, of: Partial<UsageRow> = {}): UsageRow {
  const tokens = { input: 0, output: usd * 1_000_000, cacheRead: 0, cacheWrite: 0 };
  const where = { sender: 'slack:U1', conversation: 'slack:C1/1.2', skill: 'dice', model: 'default' };
  return { day, ...where, requests: 1, tokens, ...of };
}

function budgetsOf(
  limits: Readonly<Partial<Record<(typeof sections)[number], Partial<typeof off>>>>,
  rows: readonly UsageRow[],
  { zone = 'UTC', at }: Readonly<{ zone?: string; at: string }>,
) {
  const tables = sections.map((section) =>
    [
      `[limits${section}]`,
      ...Object.entries({ ...off, ...limits[section] }).map(([key, value]) => `${key} = ${value}`),
    ].join('\n'),
  );
  const models = '[models.default]\nmodel = "m"\nprice_in = 0\nprice_out = 1\n';
  const parsed = parseConfig(`${models}[bot]\ntimezone = "${zone}"\n${tables.join('\n')}`, { env: {} });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  const { config } = parsed;
  const time = { now: Date.parse(at) };
  const clock: Clock = { now: () => time.now, sleep: async () => undefined };
  const reads: unknown[] = [];
  const within = (first: string, last: string) => rows.filter(({ day }) => day >= first && day <= last);
  const kept = new Keyv();
  const store = {
    usage: async ({ day = '', sender }: { day?: string; sender?: string }) => {
      reads.push(day);
      return within(day, day).filter((row) => sender === undefined || row.sender === sender);
    },
    usedBetween: async (first: string, last: string) => (reads.push([first, last]), within(first, last)),
    keyed: () => kept,
    countUse: async () => undefined,
    inbox: { beside: async () => [] },
  };
  return { budgets: createBudgets({ config: () => config, store, clock }), time, reads };
}

test('G6 each table has a budget for the month beside that of the day, and says when it resets', async () => {
  const rows = [use('2026-11-01', 3), use('2026-11-21', 4), use('2026-11-22', 2), use('2026-10-31', 100)];
  for (const [section, whose] of [
    ['', 'Your'],
    ['.chat', 'This chat’s'],
    ['.skill', 'The skill dice’s'],
    ['.global', 'My'],
  ] as const) {
    const at = '2026-11-22T12:00:00Z';
    const over = budgetsOf({ [section]: { usd_per_month: 9 } }, rows, { at }).budgets;
    const said = `${whose} budget of 9 US dollars a month is used up. It resets in 9 days.`;
    assert.equal(await over.ofModel(ann, 'dice'), said);
    assert.equal(await over.ofMessage(ann), section === '.skill' ? undefined : said);
    const under = budgetsOf({ [section]: { usd_per_month: 9.01 } }, rows, { at }).budgets;
    assert.equal(await under.ofModel(ann, 'dice'), undefined);
    const both = budgetsOf({ [section]: { usd_per_month: 9, usd_per_day: 2 } }, rows, { at }).budgets;
    assert.match((await both.ofModel(ann, 'dice')) ?? '', /budget of 2 US dollars a day is used up/);
  }
});

test('G6 a month is that of the operator’s zone: its last hour, its first one, and where the clocks change', async () => {
  for (const [zone, at, month, wait] of [
    // The last hour of October in Zurich, whose clocks went back on the 25th.
    ['Europe/Zurich', '2026-10-31T22:30:00Z', '2026-10', 'in 30 min'],
    ['Europe/Zurich', '2026-10-31T23:00:00Z', '2026-11', 'in 30 days'],
    // Already November in Auckland, still October in Honolulu.
    ['Pacific/Auckland', '2026-10-31T11:00:00Z', '2026-11', 'in 30 days'],
    ['Pacific/Honolulu', '2026-11-01T09:59:00Z', '2026-10', 'in 1 min'],
    // March has one hour less in New York, February 29 days in a leap year.
    ['America/New_York', '2027-03-01T05:00:00Z', '2027-03', 'in 31 days'],
    ['UTC', '2028-02-01T00:00:00Z', '2028-02', 'in 29 days'],
    ['UTC', '2026-12-31T23:59:30Z', '2026-12', 'in 1 min'],
  ] as const) {
    const rows = ['2026-10', '2026-11', '2026-12', '2027-03', '2028-02'].map((each) =>
      use(`${each}-01`, each === month ? 5 : 1),
    );
    const { budgets } = budgetsOf({ '': { usd_per_month: 5 } }, rows, { zone, at });
    const said = `Your budget of 5 US dollars a month is used up. It resets ${wait}.`;
    assert.equal(await budgets.ofMessage(ann), said, `${zone} ${at}`);
  }
  // 743 hours: the clocks skip one.
  const { budgets } = budgetsOf({ '': { usd_per_month: 5 } }, [use('2027-03-01', 5)], {
    ...{ zone: 'America/New_York', at: '2027-03-01T05:00:00Z' },
  });
  assert.equal((await budgets.ofCall(ann, undefined, 0))?.resetsIn, 743 * 3_600_000);
});

test('G6 a call is stopped before it passes a budget, by what it costs as far as is known', async () => {
  const rows = [use('2026-11-22', 4)];
  const { budgets } = budgetsOf({ '.global': { usd_per_day: 5 } }, rows, { at: '2026-11-22T12:00:00Z' });
  assert.equal(await budgets.ofCall(ann, 'dice', 0), undefined);
  assert.equal(await budgets.ofCall(ann, 'dice', 1), undefined);
  const reached = await budgets.ofCall(ann, 'dice', 1.5);
  assert.deepEqual(
    [reached?.of, reached?.name, reached?.period, reached?.limit, reached?.spent, reached?.next],
    ['all', '', 'day', 5, 4, 1.5],
  );
});

test('G6 what an approver adds counts for that budget and its month alone, once', async () => {
  const rows = [use('2026-11-10', 5), use('2026-12-01', 5), use('2026-11-10', 5, { sender: 'slack:U2' })];
  const limits = { '': { usd_per_month: 5 } };
  const { budgets, time } = budgetsOf(limits, rows, { at: '2026-11-22T12:00:00Z' });
  const bob = { ...ann, sender: 'slack:U2' };
  const reached = await budgets.ofCall(ann, undefined, 0);
  assert.ok(reached);
  assert.doesNotMatch(reached.key, /U1/, 'it names nobody');
  assert.equal(await budgets.isAllowed('q1'), false);
  await budgets.allow('q1', reached.key, 2);
  await budgets.allow('q1', reached.key, 2);
  assert.equal(await budgets.isAllowed('q1'), true);
  assert.equal(await budgets.ofCall(ann, undefined, 2), undefined);
  assert.equal((await budgets.ofCall(ann, undefined, 2.5))?.limit, 7, 'two dollars, not four');
  assert.equal(await budgets.ofMessage(ann), undefined);
  assert.notEqual(await budgets.ofCall(bob, undefined, 0), undefined, 'another person');
  time.now = Date.parse('2026-12-01T01:00:00Z');
  assert.equal((await budgets.ofCall(ann, undefined, 0))?.limit, 5, 'another month');
});

test('G6 the days before today are read once a minute, and not at all without a budget for the month', async () => {
  const rows = [use('2026-11-10', 4)];
  const { budgets, time, reads } = budgetsOf({ '': { usd_per_month: 5 } }, rows, {
    at: '2026-11-22T12:00:00Z',
  });
  await budgets.ofCall(ann, undefined, 0);
  await budgets.ofCall(ann, undefined, 0);
  const month = ['2026-11-01', '2026-11-21'];
  assert.deepEqual(reads, [month, '2026-11-22', '2026-11-22']);
  time.now += 60_000;
  await budgets.ofCall(ann, undefined, 0);
  assert.deepEqual(reads.slice(3), [month, '2026-11-22']);
  time.now = Date.parse('2026-12-01T00:00:00Z');
  assert.equal(await budgets.ofCall(ann, undefined, 0), undefined);
  assert.deepEqual(reads.slice(5), ['2026-12-01'], 'on the first there are none');
  const none = budgetsOf({ '': { usd_per_day: 5 } }, rows, { at: '2026-11-22T12:00:00Z' });
  await none.budgets.ofCall(ann, undefined, 0);
  assert.deepEqual(none.reads, ['2026-11-22']);
});
