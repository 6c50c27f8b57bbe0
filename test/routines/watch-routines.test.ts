import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchRoutines } from '../../src/routines/watch-routines.ts';
import { openStore } from '../../src/store/open-store.ts';
import { quietLog } from '../support/quiet-log.ts';
import { makeRoutine } from '../support/routines-contract.ts';

test('N1 what becomes due while another fires is fired in the same look', async () => {
  const time = { now: Date.UTC(2026, 0, 1) };
  const clock = { now: () => time.now, sleep: () => new Promise<void>(() => undefined) };
  const store = await openStore('sqlite::memory:', { clock });
  await store.routines.add(makeRoutine('first', { dueAt: time.now }), 9);
  await store.routines.add(makeRoutine('second', { dueAt: time.now + 500 }), 9);
  const fired: string[] = [];
  const watch = watchRoutines({
    store: {
      routines: store.routines,
      signals: store.signals,
      async fire(firing) {
        fired.push(firing.id);
        time.now += 1_000;
        return store.fire(firing);
      },
    },
    migrations: { current: async (place) => place, original: async (place) => place },
    audit: { record: async () => undefined },
    clock,
    log: quietLog(),
  });
  watch.start();
  await watch.idle();
  assert.deepEqual(fired, ['first', 'second']);
  await watch.stop();
  await store.close();
});
