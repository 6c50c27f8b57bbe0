import assert from 'node:assert/strict';
import { makeMessage } from './make-message.ts';
import type { StoreTest } from './store-contract.ts';

/** What every store says of the work that is left. */
export function backlogContract(storeTest: StoreTest): void {
  storeTest('L4 the backlog is what waits, what was set aside and what is not sent yet', async (store) => {
    for (const id of ['a', 'b', 'c', 'd']) {
      await store.inbox.accept(makeMessage({ id }), { now: 1 });
    }
    const conversation = makeMessage().conversation;
    await store.inbox.fail('a', 'gone wrong', undefined);
    await store.commit({ done: 'b' });
    await store.commit({
      outbox: ['1', '2', '3', '4'].map((key) => ({ key, conversation, part: { markdown: key } })),
    });
    await store.outbox.sending('1');
    await store.outbox.sent('1', { id: '1' });
    await store.outbox.dead('2', 'refused');
    await store.outbox.sending('3');
    assert.deepEqual(await store.backlog(), { inboxWaiting: 2, inboxDead: 1, outboxWaiting: 2 });
  });
}
