import assert from 'node:assert/strict';
import { test } from 'node:test';
import Keyv from 'keyv';
import { createBudgets } from '../../src/limits/budgets.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { Requester } from '../../src/core/tool.ts';
import type { UsageRow } from '../../src/store/store.ts';

const noon = Date.UTC(2026, 10, 22, 12);

function row(change: Partial<UsageRow>): UsageRow {
  const tokens = { input: 60, output: 20, cacheRead: 10, cacheWrite: 10 };
  const where = { sender: 'slack:U1', conversation: 'slack:C1', skill: '', model: 'default' };
  return { day: '2026-11-22', ...where, requests: 1, tokens, ...change };
}

function budgetsOver(toml: string, rows: UsageRow[], asked: unknown[] = []) {
  const parsed = parseConfig(toml, { env: {} });
  assert.ok(parsed.ok);
  const { config } = parsed;
  const time = { now: noon };
  const clock: Clock = { now: () => time.now, sleep: async () => undefined };
  const store = {
    usage: async (of: unknown) => (asked.push(of), [...rows]),
    usedBetween: async (...days: unknown[]) => (asked.push(days), [...rows]),
    keyed: () => new Keyv(),
    countUse: async () => undefined,
    inbox: { beside: async () => [] },
  };
  return { budgets: createBudgets({ config: () => config, store, clock }), time };
}

function from(sender: string, chat: string, thread?: string): Requester {
  const conversation = { channel: 'slack', chat, ...(thread === undefined ? {} : { thread }) };
  return { conversation, chatType: 'group', external: false, sender, kind: 'person' };
}

test('U10 a chat’s budget counts what was used in it and its threads by anybody, and nothing of other chats', async () => {
  const rows = [
    row({ conversation: 'slack:C1/17.2' }),
    row({ sender: 'slack:U2', skill: 'dice' }),
    row({ conversation: 'slack:C12' }),
  ];
  const spent = (tokens: number) =>
    budgetsOver(`[limits.chat]\ntokens_per_day = ${tokens}`, rows).budgets.ofMessage(
      from('slack:U3', 'C1', '18.1'),
    );
  assert.match((await spent(200)) ?? '', /^This chat’s budget of 200 tokens a day is used up/);
  assert.equal(await spent(201), undefined);
});

test('B1 B4 a budget that has room is not put into words, which would load Intl for each message', async (t) => {
  const words = t.mock.method(Number.prototype, 'toLocaleString');
  const { budgets } = budgetsOver('', [row({})]);
  assert.equal(await budgets.ofMessage(from('slack:U1', 'C1')), undefined);
  assert.equal(await budgets.ofModel(from('slack:U1', 'C1'), 'dice'), undefined);
  assert.equal(words.mock.callCount(), 0);
});

test('U10 a person’s, a skill’s and the whole budget count what is theirs, 0 being no limit', async () => {
  const rows = [
    row({ skill: 'dice' }),
    row({ sender: 'slack:U2', skill: 'dice' }),
    row({ sender: 'slack:U2' }),
  ];
  const off = (section: string) => `[limits${section}]\ntokens_per_day = 0\nusd_per_day = 0`;
  const only = (section: string, tokens: number) => {
    const others = ['', '.chat', '.skill', '.global'].filter((one) => one !== section).map(off);
    return [...others, `[limits${section}]\ntokens_per_day = ${tokens}`].join('\n');
  };
  const run = (section: string, tokens: number) =>
    budgetsOver(only(section, tokens), rows).budgets.ofRun(from('slack:U2', 'C9'), 'dice', 'run');
  assert.match((await run('', 200)) ?? '', /^Your budget/);
  assert.equal(await run('', 201), undefined);
  assert.match((await run('.skill', 200)) ?? '', /^The skill dice’s budget/);
  assert.equal(await run('.skill', 201), undefined);
  assert.match((await run('.global', 300)) ?? '', /^My budget/);
  assert.equal(await run('.global', 301), undefined);
});

test('U10 a day’s budget is that of the operator’s zone, also where the clocks change', async () => {
  const asked: unknown[] = [];
  const limit = '[limits]\ntokens_per_day = 100\n[bot]\ntimezone = "Europe/Zurich"';
  const { budgets, time } = budgetsOver(limit, [row({})], asked);
  const ada = from('slack:U1', 'C1');
  // 00:30 in Zurich, on the day that has 25 hours.
  time.now = Date.UTC(2026, 9, 24, 22, 30);
  assert.match((await budgets.ofMessage(ada)) ?? '', /a day is used up\. It resets in 24 h 30 min\.$/);
  await budgets.today('slack:U1');
  assert.deepEqual(asked, [{ day: '2026-10-25' }, { day: '2026-10-25', sender: 'slack:U1' }]);
});

test('U10 messages may be judged by sums a second old, runs by the sums as they are', async () => {
  const rows: UsageRow[] = [];
  const { budgets, time } = budgetsOver('[limits]\ntokens_per_day = 100', rows);
  const ada = from('slack:U1', 'C1');
  assert.equal(await budgets.ofMessage(ada), undefined);
  rows.push(row({}));
  assert.equal(await budgets.ofMessage(ada), undefined);
  assert.match((await budgets.ofRun(ada, 'dice', 'run')) ?? '', /^Your budget/);
  rows.length = 0;
  time.now += 999;
  assert.match((await budgets.ofMessage(ada)) ?? '', /^Your budget/);
  time.now += 1;
  assert.equal(await budgets.ofMessage(ada), undefined);
  assert.deepEqual(await budgets.today('slack:U1'), { tokens: 0, usd: 0 });
});
