import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { openCrashStage } from '../support/crash/crash-stage.ts';
import { hasKilledItself, killingAt } from '../support/crash/kill-points.ts';
import { readStored } from '../support/crash/read-stored.ts';
import { openStoreFor, storeNames } from '../support/crash/stores.ts';
import { thorough } from '../support/crash/thorough.ts';
import { noPostgres } from '../support/postgres.ts';
import { makeRoutine } from '../support/routines-contract.ts';

/** Where a process dies while a routine fires. `often`: on both stores in each run of the tests. */
const moments = {
  'before its message is stored': {
    at: 'UPDATE (skillet\\.)?routines SET due_at = ',
    when: 'after',
    often: true,
  },
  'after its message is stored': {
    at: 'UPDATE (skillet\\.)?routines SET due_at = ',
    when: 'committed',
    often: true,
  },
  'in its turn': {
    at: '(INSERT INTO entries|skillet\\.write_steps).*This is the routine',
    when: 'committed',
    often: false,
  },
  'after its outcome is counted': {
    at: 'UPDATE (skillet\\.)?routines SET last = \\S+ settled = ',
    when: 'committed',
    often: false,
  },
} as const;

for (const store of storeNames)
  for (const [moment, { often, ...kill }] of Object.entries(moments))
    test(`N1 Q5 on the ${store} store, killed ${moment}, a routine fires once and is told once`, async (t) => {
      if (store !== 'embedded' && !often && !thorough) return t.skip('in npm run test:crash');
      const opened = await openStoreFor(store);
      if (opened === undefined) return t.skip(noPostgres);
      t.after(opened.close);
      const stage = await openCrashStage({
        ...opened.options,
        channels: ['telegram'],
        script: () => 'TASK_FAILED the answer is not to be had.',
      });
      t.after(() => stage.close());
      const person = stage.telegram.person({ name: 'Ann' });
      const chat = String(person.dm.id);
      // A bot can't write first.
      const greeter = stage.start();
      person.says('/whoami');
      await person.dm.nextMessage(/You: /);
      await greeter.stop();
      const planted = await openStore(stage.storeUrl);
      const creator = { id: `telegram:${chat}`, name: 'Ann', kind: 'person' } as const;
      const definition = { creator, conversation: { channel: 'telegram', chat } } as const;
      await planted.routines.add(makeRoutine('r1', { dueAt: Date.now() - 1_000, definition }), 20);
      await planted.close();

      await hasKilledItself(stage.start({ preload: killingAt(kill) }), moment);
      const second = stage.start();
      await person.dm.nextMessage(/the answer is not to be had/);
      assert.deepEqual(await second.stop(), { code: 0, signal: null });
      const told = person.dm.everSent().filter(({ text }) => text.includes('not to be had'));
      assert.equal(told.length, 1);
      const { dead, unsent } = await readStored(stage.storeUrl);
      assert.deepEqual([dead, unsent], [[], 0]);
      const after = await openStore(stage.storeUrl);
      const routine = await after.routines.find('r1');
      await after.close();
      assert.deepEqual([routine?.failures, routine?.last?.how], [1, 'failed']);
      assert.ok((routine?.dueAt ?? 0) > Date.now(), 'the next time is to come');
    });
