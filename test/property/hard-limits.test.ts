import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { parseConfig } from '../../src/config/parse-config.ts';
import type { WatchMoney } from '../../src/core/budget.ts';
import type { Feature } from '../../src/core/feature.ts';
import { localDay } from '../../src/core/local-time.ts';
import type { Requester } from '../../src/core/tool.ts';
import { spending } from '../../src/features/spending/feature.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createBudgets, type Budgets } from '../../src/limits/budgets.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { appOf } from '../support/app-of.ts';
import { openStoreFor, storeNames, type StoreName } from '../support/crash/stores.ts';
import { seededRandom, seedFromEnv } from '../support/crash/seeded-random.ts';
import { noPostgres } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

const limit = 5;
const zone = 'Pacific/Auckland';
const people = ['telegram:1', 'telegram:2', 'telegram:3'];

function requesterOf(sender: string): Requester {
  const conversation = { channel: 'telegram', chat: sender.slice('telegram:'.length) };
  return { conversation, chatType: 'private', external: false, sender, kind: 'person' };
}

/** Several processes on one store; on the embedded one, which has one process, several budgets that share nothing. */
async function processes(t: TestContext, name: StoreName, limits: string) {
  const opened = await openStoreFor(name);
  if (opened === undefined) return undefined;
  t.after(opened.close);
  const parsed = parseConfig(
    `[bot]\ntimezone = "${zone}"\n[models.default]\nmodel = "m"\nprice_in = 0\nprice_out = 1\n${limits}`,
    { env: {} },
  );
  assert.ok(parsed.ok, JSON.stringify(parsed));
  const { config } = parsed;
  const url = opened.options.storeUrl;
  const stores: Store[] = [];
  for (let n = 0; n < (url === undefined ? 1 : 3); n++)
    stores.push(await openStore(url ?? 'sqlite::memory:'));
  t.after(async () => void (await Promise.all(stores.map((store) => store.close()))));
  return [0, 1, 2].map((n) => {
    const store = stores[n % stores.length] as Store;
    return { store, config, budgets: createBudgets({ config: () => config, store, clock: systemClock }) };
  });
}

const limitsOf = {
  month: `[limits]\nusd_per_day = 0\n[limits.chat]\nusd_per_day = 0\n[limits.global]\nusd_per_day = 0\nusd_per_month = ${limit}`,
  day: `[limits]\nusd_per_day = 0\n[limits.chat]\nusd_per_day = 0\n[limits.global]\nusd_per_day = ${limit}`,
} as const;

for (const name of storeNames)
  for (const [period, limits] of Object.entries(limitsOf))
    test(`G6 on the ${name} store the sum never passes the limit of a ${period} by more than the calls under way`, async (t) => {
      const all = await processes(t, name, limits);
      if (all === undefined) return t.skip(noPostgres);
      const random = seededRandom(seedFromEnv());
      let [spent, underWay, mostUnderWay] = [0, 0, 0];
      /** What calls that were under way when the limit was passed cost, and whether one began after that. */
      let [over, late] = [0, 0];

      async function work({ store, budgets }: Readonly<{ store: Store; budgets: Budgets }>, sender: string) {
        const requester = requesterOf(sender);
        for (let last = 0; ;) {
          const wasOver = spent >= limit;
          if ((await budgets.ofCall(requester, undefined, last)) !== undefined) return;
          if (wasOver) late += 1;
          underWay += 1;
          mostUnderWay = Math.max(mostUnderWay, underWay);
          const cost = Math.round((0.01 + random.next() * 0.4) * 1_000) / 1_000;
          const tokens = { input: 0, output: Math.round(cost * 1_000_000), cacheRead: 0, cacheWrite: 0 };
          const day = localDay(Date.now(), zone);
          await store.commit({
            usage: [{ day, sender, conversation: `telegram:${sender}`, skill: '', model: 'default', tokens }],
          });
          if (spent >= limit) over += cost;
          spent += cost;
          underWay -= 1;
          last = random.chance(0.5) ? 0 : cost;
        }
      }

      await Promise.all(all.flatMap((one) => people.map((sender) => work(one, sender))));
      assert.equal(late, 0, 'no call begins once the limit is reached');
      assert.ok(mostUnderWay > 1, 'calls overlap');
      assert.ok(spent > limit * 0.9, `it is used up: ${spent}`);
      assert.ok(over <= mostUnderWay * 0.41, `${over} dollars by ${mostUnderWay} calls`);
      assert.ok(spent < limit + 0.41 + over + 1e-9, `${spent} dollars`);
      const sums = await all[0]?.store.usage({});
      const stored = sums?.reduce((sum, { tokens }) => sum + tokens.output, 0) ?? 0;
      assert.equal(Math.round(stored / 1_000), Math.round(spent * 1_000), 'nothing is lost');
    });

for (const name of storeNames)
  test(`G6 on the ${name} store several processes warn once for each level, whoever sees it first`, async (t) => {
    const limits = `[limits]\nusd_per_month = ${limit}`;
    const all = await processes(t, name, limits);
    if (all === undefined) return t.skip(noPostgres);
    const told = new Set<string>();
    const words: string[] = [];
    let calls = 0;
    const warners = all.map(({ store, config, budgets }): WatchMoney['warn'] => {
      const feature: Feature = spending.create(
        appOf({
          ...{ store, budgets, clock: systemClock, log: quietLog() },
          config: () => config,
          replies: {
            // As the outbox: the same key is sent once.
            tellOwners: async (key) => {
              calls += 1;
              if (!told.has(key)) words.push(key);
              told.add(key);
            },
            rows: async (conversation, key, markdown) => [
              { key: `${key}#0`, conversation, part: { markdown } },
            ],
          },
        }),
      );
      return feature.money?.warn ?? assert.fail();
    });
    const ann = requesterOf('telegram:1');
    const day = localDay(Date.now(), zone);
    for (const usd of [2.4, 0.2, 1.5, 0.7, 0.1]) {
      const tokens = { input: 0, output: usd * 1_000_000, cacheRead: 0, cacheWrite: 0 };
      const use = {
        day,
        sender: 'telegram:1',
        conversation: 'telegram:1',
        skill: '',
        model: 'default',
        tokens,
      };
      await all[0]?.store.commit({ usage: [use] });
      await Promise.all([...warners, ...warners].map((warn) => warn(ann, undefined)));
      // The outbox forgets its keys after a week; the mark does not.
      const before = calls;
      for (const warn of warners) await warn(ann, undefined);
      assert.equal(calls, before);
    }
    assert.deepEqual(
      words.map((key) => Number(key.split(' ').at(-1))),
      [50, 80, 95],
    );
    const queued = await all[0]?.store.outbox.pending({ channel: 'telegram', chat: '1' });
    assert.equal(queued, 3, 'the person has one message for each');
  });
