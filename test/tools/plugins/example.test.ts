import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { openPluginImports } from '../../../src/tools/plugins/plugin-imports.ts';
import type { balances, transfers } from '../../../examples/expenses/plugin.ts';

let close = (): void => undefined;
before(() => (close = openPluginImports()));
after(() => close());

test('X1 the example settles any expenses: nothing is lost by rounding, and few payments leave nobody owing', async () => {
  const file = path.join(import.meta.dirname, '../../../examples/expenses/plugin.ts');
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
