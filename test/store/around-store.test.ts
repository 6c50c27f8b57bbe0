import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanStore } from '../../src/bot/redacting-doors.ts';
import { noMeter } from '../../src/core/meter.ts';
import { createRedaction } from '../../src/lib/redaction/redact.ts';
import { watchStore } from '../../src/operator/health/watch-store.ts';
import { aroundStore, same, type StoreRules } from '../../src/store/around-store.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';

const health = { met: () => undefined, patient: <T>(call: () => Promise<T>) => call() };

function methodsOf(part: object): readonly string[] {
  return Object.entries(part)
    .flatMap(([name, one]: [string, unknown]) =>
      typeof one === 'function' ? [name] : methodsOf(one as object).map((method) => `${name}.${method}`),
    )
    .sort();
}

test('S2 Q11 every method of the store has a rule of redaction and one of outages', async (t) => {
  const store = await openStore('sqlite::memory:');
  t.after(store.close);
  const around = watchStore(
    cleanStore(store, () => createRedaction([])),
    health,
    noMeter,
  );
  assert.deepEqual(methodsOf(around), methodsOf(store));
});

test('S2 a method without a rule is absent', () => {
  const rules = { signals: same('on') };
  // @ts-expect-error it does not compile either
  const unsafe: StoreRules = rules;
  const store = { signals: { on: () => undefined, send: () => undefined }, close: () => undefined };
  assert.deepEqual(methodsOf(aroundStore(store as unknown as Store, unsafe)), ['signals.on']);
});
