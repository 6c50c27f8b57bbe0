import assert from 'node:assert/strict';
import { conversationKey } from '../../src/core/conversation.ts';
import type { Store } from '../../src/store/store.ts';
import { makeMessage } from './make-message.ts';
import type { StoreTest } from './store-contract.ts';

const hour = 3_600_000;

/** What limits on uses rest on (U10). */
export function usesContract(storeTest: StoreTest): void {
  storeTest(
    'U10 what is over a limit is not counted, and it is said when there is room again',
    async (store) => {
      const limits = [
        { key: 'ann', most: 2, ms: hour },
        { key: 'all', most: 3, ms: hour },
      ];
      assert.equal(await store.countUse('r1', limits), undefined);
      assert.equal(await store.countUse('r2', limits), undefined);
      const over = await store.countUse('r3', limits);
      assert.equal(over?.key, 'ann');
      const wait = over.freeAt - Date.now();
      assert.ok(wait > hour - 60_000 && wait <= hour + 1_000, String(wait));
      // Had it been counted under "all", this one would be the fourth there.
      assert.equal(await store.countUse('r4', [{ key: 'all', most: 3, ms: hour }]), undefined);
      assert.equal((await store.countUse('r5', [{ key: 'all', most: 3, ms: hour }]))?.key, 'all');
      assert.equal(await store.countUse('r6', [{ key: 'bob', most: 1, ms: hour }]), undefined);
      assert.equal(await store.countUse('r7', []), undefined);
    },
  );

  storeTest(
    'U10 Q5 a use is counted once, however often it is asked for, side by side too',
    async (store) => {
      const limits = [{ key: 'ann', most: 2, ms: hour }];
      for (let again = 0; again < 3; again++) assert.equal(await store.countUse('r1', limits), undefined);
      const each = await Promise.all(['r2', 'r3', 'r4', 'r2'].map((id) => store.countUse(id, limits)));
      assert.equal(each.filter((over) => over === undefined).length >= 1, true);
      assert.equal((await store.countUse('r9', limits))?.key, 'ann');
      assert.equal(await store.countUse('r1', limits), undefined, 'it was let in before');
    },
  );

  storeTest(
    'U10 work is added where it is not refused, decided over all that was added before',
    async (store) => {
      const add = (id: string, most: number): Promise<string | undefined> =>
        store.addWork(workFor(id), (beside) => (beside.length < most ? undefined : `${beside.length} go on`));
      const each = await Promise.all(Array.from({ length: 6 }, (_, n) => add(`run${n}`, 2)));
      assert.deepEqual(each.filter((refused) => refused === undefined).length, 2);
      assert.deepEqual(new Set(each.filter((refused) => refused !== undefined)), new Set(['2 go on']));
      const stored = (await store.inbox.beside()).map(({ key }) => key);
      assert.equal(stored.length, 2);
      // Known already: nobody is asked.
      assert.equal(await add(stored[0] ?? '', 0), undefined);
      await store.commit({ done: stored[0] ?? '' });
      assert.equal(await add(stored[0] ?? '', 0), undefined);
      assert.equal((await store.inbox.beside()).length, 1);
      assert.equal(await add('later', 2), undefined);
    },
  );
}

/** A run that could be added, by its key. */
export function workFor(id: string): Parameters<Store['addWork']>[0] {
  const message = makeMessage({ id });
  return { queue: `${conversationKey(message.conversation)}~${id}`, message };
}
