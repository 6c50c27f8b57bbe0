import assert from 'node:assert/strict';
import type { Part } from '../../src/core/channel.ts';
import { conversationKey, type Conversation } from '../../src/core/conversation.ts';
import type { OutboxRow } from '../../src/store/outbox.ts';
import type { Store } from '../../src/store/store.ts';
import type { StoreTest } from './store-contract.ts';

const ann: Conversation = { channel: 'telegram', chat: '1' };
const bob: Conversation = { channel: 'telegram', chat: '2', thread: '7' };

async function write(store: Store, conversation: Conversation, ...keys: string[]): Promise<void> {
  await store.commit({
    outbox: keys.map((key) => ({ key, conversation, part: { markdown: `text of ${key}` } })),
  });
}

/** The head of each conversation, if it is due. */
async function heads(store: Store, now = 1): Promise<readonly OutboxRow[]> {
  const rows = await Promise.all([ann, bob].map((to) => store.outbox.next(conversationKey(to), now)));
  return rows.flatMap((row) => row ?? []);
}

async function dueKeys(store: Store, now = 1): Promise<readonly string[]> {
  return (await heads(store, now)).map(({ key }) => key);
}

/** What every outbox promises (Q6). */
export function outboxContract(storeTest: StoreTest): void {
  storeTest(
    'Q6 parts are given in order within a conversation, conversations side by side',
    async (store) => {
      await write(store, ann, 'a#0', 'a#1');
      await write(store, bob, 'b#0');
      await write(store, ann, 'a#2');
      assert.deepEqual(await dueKeys(store), ['a#0', 'b#0']);
      await store.outbox.sending('a#0');
      await store.outbox.sent('a#0', { id: '100' });
      assert.deepEqual(await dueKeys(store), ['a#1', 'b#0']);
      assert.equal(await store.outbox.pending(ann), 2);
      await store.outbox.sent('a#1', { id: '101' });
      await store.outbox.sent('a#2', { id: '102' });
      assert.equal(await store.outbox.pending(ann), 0);
      assert.deepEqual(await dueKeys(store), ['b#0']);
    },
  );

  storeTest('Q6 a part comes back as it was written', async (store) => {
    const part: Part = {
      markdown: '**x** & <y>\n🦉',
      buttons: [
        { label: 'Approve', action: 'a:1' },
        { label: 'See', url: 'https://example.org/?a=1&b=2' },
      ],
      replyTo: '55',
    };
    await store.commit({ outbox: [{ key: 'a#0', conversation: bob, part }] });
    assert.deepEqual(await heads(store), [
      { key: 'a#0', conversation: bob, part, status: 'waiting', tries: 0, repeats: 0 },
    ]);
  });

  storeTest('Q6 a key that is written twice is sent once, also after it was sent', async (store) => {
    await write(store, ann, 'a#0');
    await write(store, ann, 'a#0', 'a#1');
    assert.equal(await store.outbox.pending(ann), 2);
    await store.outbox.sent('a#0', { id: '100' });
    await write(store, ann, 'a#0');
    assert.deepEqual(await dueKeys(store), ['a#1']);
  });

  storeTest('Q6 a part that is put off holds back its own conversation only', async (store) => {
    await write(store, ann, 'a#0', 'a#1');
    await write(store, bob, 'b#0');
    await store.outbox.sending('a#0');
    await store.outbox.retry('a#0', 'too many requests', 500);
    assert.deepEqual(await dueKeys(store, 499), ['b#0']);
    const [row] = await heads(store, 500);
    assert.deepEqual([row?.key, row?.status, row?.tries], ['a#0', 'waiting', 1]);
  });

  storeTest(
    'Q6 a part whose sending was cut off is given again, and its repeats are counted',
    async (store) => {
      await write(store, ann, 'a#0');
      await store.outbox.sending('a#0');
      assert.equal((await heads(store))[0]?.status, 'sending');
      await store.outbox.repeated('a#0');
      await store.outbox.repeated('a#0');
      assert.equal((await heads(store))[0]?.repeats, 2);
    },
  );

  storeTest('Q6 a part that was given up lets the later ones of its conversation go on', async (store) => {
    await write(store, ann, 'a#0', 'a#1');
    await store.outbox.dead('a#0', 'blocked by the person');
    assert.deepEqual(await dueKeys(store), ['a#1']);
    assert.equal(await store.outbox.pending(ann), 1);
    await store.outbox.retry('a#0', 'late word', 5);
    assert.deepEqual(await dueKeys(store, 10), ['a#1'], 'a part that was given up came back');
  });

  storeTest('Q6 L1 what was given up is listed with the reason, and can be sent after all', async (store) => {
    await write(store, ann, 'a#0', 'a#1');
    await store.outbox.dead('a#0', 'blocked by the person');
    const [dead, ...others] = await store.outbox.givenUp();
    assert.deepEqual(others, []);
    assert.deepEqual([dead?.key, dead?.queue, dead?.error], ['a#0', 'telegram:1', 'blocked by the person']);
    assert.equal(await store.outbox.revive('a#1'), false);
    assert.equal(await store.outbox.revive('a#0'), true);
    assert.deepEqual(await dueKeys(store), ['a#0']);
    assert.deepEqual(await store.outbox.givenUp(), []);
    const sent: string[] = [];
    const serving = store.outbox.startWorker({
      channels: ['telegram'],
      concurrency: 1,
      async run(queue) {
        const row = await store.outbox.next(queue, Date.now());
        if (row === undefined) return;
        if (sent.length === 0) await store.outbox.dead(row.key, 'blocked still');
        else await store.outbox.sent(row.key, { id: '1' });
        sent.push(row.key);
      },
    });
    await serving.idle();
    assert.equal(await store.outbox.revive('a#0'), true);
    await serving.idle();
    assert.deepEqual(sent, ['a#0', 'a#1', 'a#0']);
    await serving.stop();
  });

  storeTest(
    'Q6 what is shown in the place of a part is found by it, before and after it is written',
    async (store) => {
      assert.equal(await store.outbox.shown('a#0'), undefined);
      assert.equal(await store.outbox.receipt('a#0'), undefined);
      await store.outbox.show('a#0', { id: '7' });
      await store.outbox.show('a#0', { id: '8' });
      assert.deepEqual(await store.outbox.shown('a#0'), { id: '8' });
      await write(store, ann, 'a#0');
      assert.deepEqual((await heads(store))[0]?.shown, { id: '8' });
      await store.outbox.show('a#0', undefined);
      assert.equal((await heads(store))[0]?.shown, undefined);
    },
  );
}
