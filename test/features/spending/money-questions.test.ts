import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from '../../../src/config/parse-config.ts';
import type { CallAhead, ReachedBudget } from '../../../src/core/budget.ts';
import type { Requester } from '../../../src/core/tool.ts';
import { createMoneyQuestions } from '../../../src/features/spending/money-questions.ts';
import { createBudgets } from '../../../src/limits/budgets.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { appOf } from '../../support/app-of.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { quietLog } from '../../support/quiet-log.ts';
import { until } from '../../support/until.ts';

const conversation = { channel: 'telegram', chat: '43' };
const ann: Requester = {
  ...{
    conversation,
    chatType: 'private',
    external: false,
    sender: 'telegram:43',
    name: 'Ann',
    kind: 'person',
  },
};
const ahead: CallAhead = {
  requester: ann,
  transcript: 'telegram:43',
  model: 'default',
  last: undefined,
  left: 4,
};
const budget: ReachedBudget = {
  ...{
    key: 'k',
    of: 'sender',
    name: 'telegram:43',
    period: 'day',
    limit: 5,
    spent: 4.5,
    next: 3,
    resetsIn: 1,
  },
};
const owen = { id: 'telegram:42', name: 'Owen', kind: 'person' } as const;

test('G6 without an answer in ten minutes the work ends, a late yes adds nothing, and the next work asks again', async (t) => {
  const clock = createManualClock(Date.now());
  const store = await openStore('sqlite::memory:', { clock });
  t.after(() => store.close());
  const parsed = parseConfig('[policy]\napprovers = ["telegram:42"]\n', { env: {} });
  assert.ok(parsed.ok);
  const config = () => parsed.config;
  const budgets = createBudgets({ config, store, clock });
  const recorded: unknown[] = [];
  const questions = createMoneyQuestions(
    appOf({
      ...{ store, clock, config, budgets, log: quietLog(), stopping: new AbortController().signal },
      canAsk: () => true,
      channels: new Map([['telegram', undefined as never]]),
      users: {
        owners: async () => [],
        isOwner: async () => false,
        languageOf: async () => undefined,
      },
      audit: { record: async (event) => void recorded.push(event), holds: async () => false },
      replies: {
        rows: async (to, key, markdown, more) => [
          { key: `${key}#0`, conversation: to, part: { markdown, buttons: more?.buttons ?? [] } },
        ],
      },
    }),
  );
  const how = { signal: new AbortController().signal, isReached: async () => true };
  const open = async () =>
    (await store.pendingRequests.waiting()).filter(({ expiresAt }) => expiresAt > clock.now());

  const first = questions.ask(budget, ahead, how);
  await until(async () => (await open()).length === 1);
  const [{ id, payload } = assert.fail()] = await open();
  assert.equal(payload['usd'], 3, 'as many times a dollar as the next step needs');
  assert.deepEqual(await questions.answer(id, { ...owen, id: 'telegram:43' }, 'allow'), {
    kind: 'not_yours',
    text: 'Only an owner or an approver can decide that.',
  });
  await clock.advance(10 * 60_000);
  assert.equal(await first, 'expired');
  const late = await questions.answer(id, owen, 'allow');
  assert.match(JSON.stringify(late), /^\{"kind":"late","text":"Nobody answered in time, so the work ended\./);
  assert.equal(await budgets.isAllowed(id), false);
  assert.deepEqual(recorded, []);

  const second = questions.ask(budget, ahead, how);
  await until(async () => (await open()).length === 1);
  const [next = assert.fail()] = await open();
  assert.notEqual(next.id, id);
  assert.equal((await questions.answer(next.id, owen, 'allow')).kind, 'taken');
  assert.equal(await second, 'allowed');
  assert.equal(await budgets.isAllowed(next.id), true);
  assert.equal(recorded.length, 1);
  assert.deepEqual(await questions.answer('unknown', owen, 'allow'), { kind: 'unknown' });
});
