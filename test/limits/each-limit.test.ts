import assert from 'node:assert/strict';
import { test } from 'node:test';
import Keyv from 'keyv';
import { parseConfig } from '../../src/config/parse-config.ts';
import type { Requester } from '../../src/core/tool.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createBudgets } from '../../src/limits/budgets.ts';
import { costOf } from '../../src/limits/costs.ts';
import type { ListedItem } from '../../src/store/inbox.ts';
import type { UsageRow, UseLimit } from '../../src/store/store.ts';
import { makeMessage } from '../support/make-message.ts';

/** A day that ends in two hours. */
const now = Date.UTC(2026, 10, 22, 22);
const sections = ['', '.chat', '.skill', '.global'] as const;
type Section = (typeof sections)[number];
const whose = { '': 'Your', '.chat': 'This chat’s', '.skill': 'The skill dice’s', '.global': 'My' } as const;
const keys = ['tokens_per_day', 'usd_per_day', 'runs_per_hour', 'concurrent_runs'] as const;

const ann: Requester = {
  conversation: { channel: 'slack', chat: 'C1', thread: '1.2' },
  ...{ chatType: 'group', external: false, sender: 'slack:U1', kind: 'person' },
};

/** No limit but those of one section. */
function limitsWith(of: Section, set: Readonly<Partial<Record<(typeof keys)[number], number>>>): string {
  return sections
    .map((section) =>
      [
        `[limits${section}]`,
        ...keys.map((key) => `${key} = ${(section === of ? set[key] : undefined) ?? 0}`),
      ].join('\n'),
    )
    .join('\n');
}

function usage(change: Partial<UsageRow> = {}): UsageRow {
  const tokens = { input: 1_000_000, output: 100_000, cacheRead: 10_000, cacheWrite: 1_000 };
  return {
    ...{
      day: '2026-11-22',
      sender: 'slack:U1',
      conversation: 'slack:C1/1.2',
      skill: 'dice',
      model: 'default',
    },
    ...{ requests: 1, tokens },
    ...change,
  };
}

function runOf(sender: string, chat: string, skill: string): ListedItem {
  const task = { kind: 'run', skill } as never;
  const conversation = { channel: 'slack', chat };
  return {
    message: makeMessage({ sender: { id: sender, name: 'N', kind: 'person' }, conversation, task }),
  } as never;
}

function budgetsWith(
  toml: string,
  {
    rows = [usage()],
    beside = [],
    over,
  }: {
    rows?: readonly UsageRow[];
    beside?: readonly ListedItem[];
    over?: (limits: readonly UseLimit[]) => number;
  } = {},
) {
  const models =
    '[models.default]\nmodel = "m"\nprice_in = 1\nprice_out = 10\nprice_cache_read = 100\nprice_cache_write = 1000\n';
  const parsed = parseConfig(`${models}[bot]\ntimezone = "UTC"\n${toml}`, { env: {} });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  const { config } = parsed;
  const counted: (readonly [string, readonly UseLimit[]])[] = [];
  const reads: unknown[] = [];
  const clock: Clock = { now: () => now, sleep: async () => undefined };
  const store = {
    usage: async (of: unknown) => (reads.push(of), [...rows]),
    usedBetween: async () => [],
    keyed: () => new Keyv(),
    countUse: async (id: string, limits: readonly UseLimit[]) => {
      counted.push([id, limits]);
      const key = over === undefined ? undefined : limits[over(limits)]?.key;
      return key === undefined ? undefined : { key, freeAt: now + 90 * 60_000 };
    },
    inbox: { beside: async () => beside },
  };
  return { budgets: createBudgets({ config: () => config, store, clock }), config, counted, reads };
}

test('U10 a day’s tokens and dollars are limited for each, and say whose they were and when there are more', async () => {
  // 1,111,000 tokens, and 1 + 1 + 1 + 1 dollars.
  const reset = 'a day is used up. It resets in 2 h.';
  for (const section of sections)
    for (const [set, budget] of [
      [{ tokens_per_day: 1_111_000 }, '1,111,000 tokens'],
      [{ tokens_per_day: 1_111_001 }, undefined],
      [{ usd_per_day: 4 }, '4 US dollars'],
      [{ usd_per_day: 3.5 }, '3.50 US dollars'],
      [{ usd_per_day: 4.01 }, undefined],
      [{ tokens_per_day: 1_111_001, usd_per_day: 4 }, '4 US dollars'],
      [{}, undefined],
    ] as const) {
      const { budgets, reads } = budgetsWith(limitsWith(section, set));
      const expected = budget === undefined ? undefined : `${whose[section]} budget of ${budget} ${reset}`;
      const row = `${section} ${JSON.stringify(set)}`;
      assert.equal(await budgets.ofModel(ann, 'dice'), expected, row);
      assert.equal(await budgets.ofRun(ann, 'dice', 'run'), expected, row);
      const asMessage = section === '.skill' ? undefined : expected;
      assert.equal(await budgets.ofMessage(ann), asMessage, row);
      assert.equal(await budgets.ofModel(ann, undefined), asMessage, row);
      if (Object.keys(set).length === 0) assert.deepEqual(reads, [], 'nothing is read for nothing');
    }
  const { budgets } = budgetsWith(limitsWith('', { tokens_per_day: 1 }));
  assert.match(
    (await budgets.ofMessage({ ...ann, language: 'de' })) ?? '',
    /^Dein Tagesbudget|^(?!Your budget)/,
  );
});

test('U10 what was used counts for its person, room and skill, in sum', async () => {
  const others = { sender: 'slack:U2', conversation: 'slack:C2', skill: 'other' };
  for (const [section, change] of [
    ['', { ...others, sender: 'slack:U1' }],
    ['.chat', { ...others, conversation: 'slack:C1' }],
    ['.skill', { ...others, skill: 'dice' }],
    ['.global', others],
  ] as const) {
    for (const [rows, isFull] of [
      [[usage(change), usage(change)], true],
      [[usage(change)], false],
      [[usage(change), ...(section === '.global' ? [] : [usage(others)])], false],
    ] as const) {
      const by = budgetsWith(limitsWith(section, { usd_per_day: 8 }), { rows }).budgets;
      assert.equal((await by.ofModel(ann, 'dice')) !== undefined, isFull, `${section} ${rows.length}`);
    }
  }
  const { budgets } = budgetsWith('', { rows: [usage(), usage({ model: 'gone' })] });
  assert.deepEqual(await budgets.today('slack:U1'), { tokens: 2_222_000, usd: 4 });
});

test('U10 runs at the same time are counted for each, other work is not', async () => {
  const talk = { message: makeMessage() } as never as ListedItem;
  const mine = [runOf('slack:U1', 'C9', 'x'), runOf('slack:U1', 'C9', 'x')];
  const here = [runOf('slack:U9', 'C1', 'x'), runOf('slack:U9', 'C1', 'x')];
  const same = [runOf('slack:U9', 'C9', 'dice'), runOf('slack:U9', 'C9', 'dice')];
  const others = [runOf('slack:U9', 'C9', 'x'), runOf('slack:U9', 'C9', 'x')];
  for (const [section, work, isFull] of [
    ['', mine, true],
    ['', here, false],
    ['.chat', here, true],
    ['.chat', mine, false],
    ['.skill', same, true],
    ['.skill', mine, false],
    ['.global', others, true],
    ['.global', others.slice(1), false],
  ] as const) {
    const beside = [talk, {} as ListedItem, ...work, talk];
    const { budgets, counted } = budgetsWith(limitsWith(section, { concurrent_runs: 2 }), { beside });
    const expected = isFull
      ? `${whose[section]} limit of 2 runs at the same time is reached. There is room when one of them has ended.`
      : undefined;
    assert.equal(await budgets.ofRun(ann, 'dice', 'run'), expected, section);
    assert.equal(budgets.atOnce(ann, 'dice')(beside), expected, section);
    assert.equal(counted.length, isFull ? 0 : 1, 'a refused run is not counted');
    const free = budgetsWith(limitsWith(section, {}), { beside }).budgets;
    assert.equal(free.atOnce(ann, 'dice')(beside), undefined, '0 is no limit');
  }
});

test('U10 runs an hour are counted once an id, for each whose limit it is, under keys that name nobody', async () => {
  const all = Object.fromEntries(
    sections.map((section) => [section, limitsWith(section, { runs_per_hour: 5 })]),
  );
  const seen = new Set<string>();
  for (const section of sections) {
    const { budgets, counted } = budgetsWith(all[section] ?? '', { over: () => 0 });
    assert.equal(
      await budgets.ofRun(ann, 'dice', 'run-1'),
      `${whose[section]} limit of 5 runs an hour is reached: there is room in 1 h 30 min.`,
    );
    const [[id, limits] = ['', []]] = counted;
    assert.deepEqual([id, limits.map(({ most, ms }) => [most, ms])], ['run-1', [[5, 3_600_000]]]);
    const [{ key } = { key: '' }] = limits;
    assert.match(key, /^[0-9a-f]{32}$/);
    seen.add(key);
    // The same for the same person, chat and skill.
    const again = budgetsWith(all[section] ?? '');
    assert.equal(
      await again.budgets.ofRun({ ...ann, conversation: { channel: 'slack', chat: 'C1' } }, 'dice', 'run-2'),
      undefined,
    );
    assert.deepEqual(again.counted, [['run-2', limits]]);
  }
  assert.equal(seen.size, sections.length);
  const every = sections.map((section) => `[limits${section}]\nruns_per_hour = 7`).join('\n');
  const { budgets } = budgetsWith(every, { rows: [], over: () => 3 });
  assert.match((await budgets.ofRun(ann, 'dice', 'run')) ?? '', /^My limit of 7 runs an hour/);
  const none = budgetsWith(limitsWith('', {}));
  await none.budgets.ofRun(ann, 'dice', 'run');
  assert.deepEqual(none.counted, [['run', []]], 'no limit is asked for');
});

test('M14 a cost is the sum of what each kind of token costs, undefined without prices', () => {
  const { config } = budgetsWith('[models.free]\nmodel = "unpriced"\n');
  const tokens = { input: 2_000_000, output: 300_000, cacheRead: 40_000, cacheWrite: 5_000 };
  assert.equal(costOf(config, 'default', tokens), 2 + 3 + 4 + 5);
  assert.equal(costOf(config, 'free', tokens), undefined);
  assert.equal(costOf(config, 'gone', tokens), undefined);
});
