import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { createWorkspace } from '../../../src/features/plugins/plugin-calls.ts';
import type { Plugin } from '../../../src/features/plugins/define-plugin.ts';
import { openPluginImports } from '../../../src/features/plugins/plugin-imports.ts';
import type { balances, transfers } from '../../../examples/expenses/plugin.ts';
import { openDoor } from '../../support/call-one-tool.ts';
import { pluginContext } from '../../support/plugin-context.ts';
import { namedLog } from '../../../src/features/plugins/tool-context.ts';
import { quietLog } from '../../support/quiet-log.ts';

let close = (): void => undefined;
before(() => (close = openPluginImports()));
after(() => close());

const file = path.join(import.meta.dirname, '../../../examples/expenses/plugin.ts');

test('X1 X4 the example keeps its expenses in one file, whatever others of that name there are', async (t) => {
  const home = await mkdtemp(path.join(tmpdir(), 'skillet-files-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const { default: plugin } = (await import(pathToFileURL(file).href)) as { default: Plugin };
  const workspace = createWorkspace([{ kind: 'chat', seen: [home, '/chat'], host: home }], 1024 ** 2);
  const context = { config: { largest: 100 }, bot: { name: 'Botty' }, log: namedLog(quietLog(), {}) };
  const [add] = (await plugin.makeTools(context)).map((tool) =>
    tool.bind(async () => ({
      context: pluginContext({ workspace }),
      over: new AbortController().signal,
      close: async () => undefined,
    })),
  );
  assert.ok(add);
  await workspace.write('/chat/old/expenses.json', '[]');
  const expense = { what: 'pizza', amount: 30, paid_by: 'Ann', shared_by: ['Ann', 'Bob'] };
  const added = async (input: object) =>
    (await openDoor([add])({ id: 'toolu_1', name: add.name, input }, new AbortController().signal)).content;
  assert.match(await added(expense), /"expenses": 1/);
  assert.match(await added(expense), /"expenses": 2/);
  assert.match(await added({ ...expense, amount: 101 }), /TOOL_FAILED: .*ask whether it is a slip/);
});

test('X1 the example settles any expenses: nothing is lost by rounding, and few payments leave nobody owing', async () => {
  const own = (await import(pathToFileURL(file).href)) as {
    balances: typeof balances;
    transfers: typeof transfers;
  };
  const name = fc.constantFrom('Ann', 'Bob', 'Cleo', 'Dan', '__proto__');
  const expense = fc.record({
    what: fc.constant('x'),
    amount: fc.integer({ min: 1, max: 1_000_000 }).map((cents) => cents / 100),
    paid_by: name,
    shared_by: fc.uniqueArray(name, { minLength: 1 }),
  });
  fc.assert(
    fc.property(fc.array(expense, { maxLength: 20 }), (expenses) => {
      const owed = new Map(own.balances(expenses));
      assert.equal(
        [...owed.values()].reduce((a, b) => a + b, 0),
        0,
      );
      const payments = own.transfers(owed);
      assert.ok(payments.length < Math.max(1, owed.size));
      for (const { from, to, amount } of payments) {
        owed.set(from, owed.get(from)! + Math.round(amount * 100));
        owed.set(to, owed.get(to)! - Math.round(amount * 100));
      }
      assert.ok([...owed.values()].every((cents) => cents === 0));
    }),
    { numRuns: 200 },
  );
});
