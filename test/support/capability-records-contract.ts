import assert from 'node:assert/strict';
import type { KeptAccount, KeptFlow } from '../../src/store/capability-records.ts';
import type { StoreTest } from './store-contract.ts';
import { equalData } from './equal-data.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const now = 1_800_000_000_000;

const account = (more: Partial<KeptAccount> = {}): KeptAccount => ({
  sender: 'telegram:42',
  capability: 'notes.book',
  name: 'hash',
  sealed: 'sealed',
  linkedAt: now,
  ...more,
});
const flow = (more: Partial<KeptFlow> = {}): Omit<KeptFlow, 'state'> => ({
  id: 'F1',
  sender: 'telegram:42',
  capability: 'notes.book',
  conversation: 'telegram/42',
  sealed: 'sealed',
  expiresAt: now + 30 * minute,
  ...more,
});

/** What accounts, sign-ins and outcomes of capabilities rest on (C6, C8). */
export function capabilityRecordsContract(storeTest: StoreTest): void {
  storeTest('C6 one key seals everything: the first check value stays', async ({ capabilities }) => {
    assert.equal(await capabilities.keyCheck(), undefined);
    const claimed = await Promise.all(['one', 'two'].map((check) => capabilities.claimKey(check)));
    assert.equal(new Set(claimed).size, 1);
    assert.equal(await capabilities.claimKey('three'), claimed[0]);
    assert.equal(await capabilities.keyCheck(), claimed[0]);
  });

  storeTest('C6 a pending flow is given again, not replaced, until it is over', async ({ capabilities }) => {
    const first = await capabilities.begin(flow(), now);
    equalData(first, { ...flow(), state: 'pending' });
    const both = await Promise.all([
      capabilities.begin(flow({ id: 'F2' }), now),
      capabilities.begin(flow({ id: 'F3' }), now),
    ]);
    assert.deepEqual(
      both.map(({ id }) => id),
      ['F1', 'F1'],
    );
    assert.equal((await capabilities.begin(flow({ id: 'F4', capability: 'notes.other' }), now)).id, 'F4');
    assert.equal((await capabilities.begin(flow({ id: 'F5', sender: 'telegram:1' }), now)).id, 'F5');
    const later = now + 30 * minute;
    const next = flow({ id: 'F6', expiresAt: later + 30 * minute });
    assert.equal((await capabilities.begin(next, later)).id, 'F6');
    assert.equal((await capabilities.flow('F1'))?.state, 'ended');
    const ids = (await capabilities.flows('telegram:42')).map(({ id }) => id);
    const all = (await capabilities.flowsSince(0)).map(({ id }) => id);
    assert.deepEqual(all.toSorted(), ['F1', 'F4', 'F5', 'F6']);
    assert.deepEqual(await capabilities.flowsSince(Number.MAX_SAFE_INTEGER), []);
    assert.deepEqual(ids, ['F6', 'F4', 'F1']);
  });

  storeTest('C6 a flow changes once, and links its account in one step', async ({ capabilities }) => {
    await capabilities.begin(flow(), now);
    const submitted = { state: 'submitted', sealed: 'code', dueAt: now } as const;
    const changed = await Promise.all([1, 2].map(() => capabilities.change('F1', 'pending', submitted)));
    assert.deepEqual(changed.sort(), [false, true]);
    assert.equal(await capabilities.link('F1', account()), false);
    await capabilities.change('F1', 'submitted', { state: 'linked', sealed: 'account' });
    assert.deepEqual(await capabilities.accounts({}), []);
    const linked = await Promise.all([1, 2].map(() => capabilities.link('F1', account())));
    assert.deepEqual(linked.sort(), [false, true]);
    assert.equal((await capabilities.flow('F1'))?.sealed, '');
    assert.deepEqual(await capabilities.accounts({ sender: 'telegram:42', capability: 'notes.book' }), [
      account(),
    ]);
    assert.deepEqual(await capabilities.accounts({ sender: 'telegram:1' }), []);
    assert.deepEqual(await capabilities.accounts({ capability: 'notes.other' }), []);
    assert.equal(await capabilities.removeAccount(account({ sender: 'telegram:1' })), false);
    assert.equal(await capabilities.removeAccount(account()), true);
    assert.deepEqual(await capabilities.accounts({}), []);
  });

  storeTest('C6 what is due is taken by one, and is due again for when its taker died', async (store) => {
    const { capabilities } = store;
    await capabilities.begin(flow(), now);
    assert.equal(await capabilities.nextDue(), undefined);
    await capabilities.change('F1', 'pending', { state: 'submitted', sealed: 'code', dueAt: now });
    assert.equal(await capabilities.nextDue(), now);
    assert.equal(await capabilities.takeDue(now - 1, now + minute), undefined);
    const taken = await Promise.all([1, 2].map(() => capabilities.takeDue(now, now + minute)));
    assert.deepEqual(taken.map((one) => one?.id).sort(), ['F1', undefined]);
    assert.equal(await capabilities.nextDue(), now + minute);
    assert.equal(await capabilities.holdOn('F1', now + minute, now + 3 * minute), true);
    assert.equal(await capabilities.takeDue(now + minute, now + 2 * minute), undefined, 'it was held on to');
    assert.equal((await capabilities.takeDue(now + 3 * minute, now + 4 * minute))?.sealed, 'code');
    assert.equal(await capabilities.holdOn('F1', now + 3 * minute, now + 9 * minute), false, 'it is taken');
    assert.equal(await capabilities.nextDue(), now + 4 * minute);
    await capabilities.change('F1', 'submitted', { state: 'pending', sealed: 's' });
    assert.equal(await capabilities.holdOn('F1', now + 4 * minute, now + 9 * minute), false, 'it is done');
    assert.equal(await capabilities.nextDue(), undefined);
  });

  storeTest('C6 a person’s flows are ended, in one conversation or in all', async ({ capabilities }) => {
    await capabilities.begin(flow(), now);
    await capabilities.begin(flow({ id: 'F2', capability: 'a.b', conversation: 'slack/D1' }), now);
    assert.equal(await capabilities.endFlows({ sender: 'telegram:1' }), 0);
    assert.equal(await capabilities.endFlows({ sender: 'telegram:42', conversation: 'slack/D1' }), 1);
    assert.equal((await capabilities.flow('F1'))?.state, 'pending');
    assert.equal(await capabilities.endFlows({ sender: 'telegram:42' }), 1);
    assert.equal(await capabilities.change('F1', 'pending', { state: 'submitted', sealed: '' }), false);
  });

  storeTest('C8 the first outcome of a key stays', async ({ capabilities }) => {
    const outcome = { key: 'k', sender: 'telegram:42', sealed: 'one', at: now };
    assert.equal(await capabilities.outcome('k'), undefined);
    assert.equal(await capabilities.keepOutcome(outcome), 'one');
    assert.equal(await capabilities.keepOutcome({ ...outcome, sealed: 'two' }), 'one');
    assert.equal(await capabilities.outcome('k'), 'one');
  });

  storeTest(
    'C6 Q12 flows and outcomes go with time, accounts stay; forgetting takes all of one person',
    async (store) => {
      const { capabilities } = store;
      const linked = async (id: string, sender: string) => {
        await capabilities.begin(flow({ id, sender }), now);
        await capabilities.change(id, 'pending', { state: 'linked', sealed: '' });
        await capabilities.link(id, account({ sender }));
      };
      await linked('F1', 'telegram:42');
      await linked('F2', 'telegram:1');
      await capabilities.keepOutcome({ key: 'k', sender: 'telegram:42', sealed: 'one', at: now });
      await store.prune(now + day, Infinity);
      assert.notEqual(await capabilities.flow('F1'), undefined);
      await store.prune(now + 2 * day, Infinity);
      assert.equal(await capabilities.flow('F1'), undefined);
      assert.equal(await capabilities.outcome('k'), 'one');
      await store.prune(now + 8 * day, Infinity);
      assert.equal(await capabilities.outcome('k'), undefined);
      await capabilities.keepOutcome({ key: 'k2', sender: 'telegram:42', sealed: 'one', at: now + 8 * day });
      await capabilities.begin(flow({ id: 'F3' }), now);
      assert.equal((await capabilities.accounts({})).length, 2);
      assert.equal(await capabilities.forget('telegram:42'), 1);
      assert.equal(await capabilities.outcome('k2'), undefined);
      assert.equal(await capabilities.flow('F3'), undefined);
      assert.deepEqual(await capabilities.accounts({}), [account({ sender: 'telegram:1' })]);
    },
  );

  storeTest('X8 accounts at servers and those of capabilities see nothing of each other', async (store) => {
    const { capabilities, serverAccounts } = store;
    const atServer = { capability: 'mcp:work' };
    await capabilities.begin(flow({ id: 'C1', dueAt: now }), now);
    await serverAccounts.begin(flow({ id: 'S1', dueAt: now, ...atServer }), now);
    assert.deepEqual(
      (await capabilities.flows('telegram:42')).map(({ id }) => id),
      ['C1'],
    );
    assert.deepEqual(
      (await serverAccounts.flowsSince(now)).map(({ id }) => id),
      ['S1'],
    );
    assert.equal(await capabilities.flow('S1'), undefined);
    assert.equal((await serverAccounts.takeDue(now, now + minute))?.id, 'S1');
    assert.equal(await serverAccounts.takeDue(now, now + minute), undefined);
    for (const [records, id, more] of [
      [capabilities, 'C1', {}],
      [serverAccounts, 'S1', atServer],
    ] as const) {
      assert.ok(await records.change(id, 'pending', { state: 'linked', sealed: 'x' }));
      assert.ok(await records.link(id, account(more)));
    }
    assert.equal(await serverAccounts.forget('telegram:42'), 1);
    assert.deepEqual(await serverAccounts.accounts({}), []);
    assert.equal((await capabilities.accounts({})).length, 1);
    assert.equal((await capabilities.flows('telegram:42')).length, 1);
    assert.equal(await serverAccounts.endFlows({ sender: 'telegram:42' }), 0);
  });

  storeTest(
    'X8 of two changes of an account one counts, and none brings back what was removed',
    async (store) => {
      const { serverAccounts } = store;
      const kept = account({ capability: 'mcp:work', sealed: 'one' });
      await serverAccounts.begin(flow({ capability: 'mcp:work' }), now);
      await serverAccounts.change('F1', 'pending', { state: 'linked', sealed: 'x' });
      await serverAccounts.link('F1', kept);
      const changes = ['two', 'three'].map((sealed) =>
        serverAccounts.changeAccount({ ...kept, sealed }, 'one'),
      );
      assert.deepEqual((await Promise.all(changes)).toSorted(), [false, true]);
      const [changed] = await serverAccounts.accounts({});
      assert.ok(await serverAccounts.removeAccount(kept));
      assert.equal(
        await serverAccounts.changeAccount({ ...kept, sealed: 'four' }, changed?.sealed ?? ''),
        false,
      );
      assert.deepEqual(await serverAccounts.accounts({}), []);
    },
  );
}
