import assert from 'node:assert/strict';
import type { Join } from '../../src/core/join.ts';
import type { Message } from '../../src/core/message.ts';
import type { Store } from '../../src/store/store.ts';
import { makeMessage } from './make-message.ts';
import type { StoreTest } from './store-contract.ts';

/** A message of chat `chat`, by default one of its own person. */
function said(chat: string, n: number, change: Partial<Message> = {}): Message {
  const conversation = { channel: 'telegram', chat };
  return makeMessage({ id: `telegram:${chat}:${n}`, conversation, text: `m${n}`, ...change });
}

async function takenText(store: Store, queue: string, now = 1): Promise<string | undefined> {
  return (await store.inbox.take(queue, now))?.message.text;
}

/** What every inbox promises (Q1–Q3). */
export function inboxContract(storeTest: StoreTest): void {
  storeTest('Q1 an accepted message comes out as it went in', async (store) => {
    const message = said('1', 1, {
      conversation: { channel: 'slack', chat: 'C1', thread: '17.2' },
      text: 'ä 🦉 \u2028 "',
      command: { name: 'skill', args: 'dice 6', bare: true },
      attachments: [
        { kind: 'photo', name: '../x.png', mime: 'image/png', size: 7 },
        { kind: 'other', name: '' },
      ],
      replyTo: { name: 'Bob', text: 'before', own: false },
      platformId: '17.5',
    });
    assert.equal(await store.inbox.accept(message, { now: 5 }), 'stored');
    const item = await store.inbox.take('slack:C1/17.2', 5);
    assert.deepEqual(item?.message, message);
    assert.deepEqual([item?.key, item?.status, item?.tries, item?.acceptedAt], [message.id, 'waiting', 0, 5]);
  });

  storeTest('Q2 a message that comes again is stored once, whatever became of it', async (store) => {
    for (const n of [1, 2, 3]) await store.inbox.accept(said('1', n), { now: 1 });
    await store.commit({ done: 'telegram:1:1' });
    await store.inbox.fail('telegram:1:2', 'poison', undefined);
    for (const n of [1, 2, 3]) {
      assert.equal(await store.inbox.accept(said('1', n, { text: 'again' }), { now: 9 }), 'duplicate');
    }
    assert.deepEqual(
      (await store.inbox.list('waiting')).map(({ message }) => message?.text),
      ['m3'],
    );
  });

  storeTest('Q2 the second twin fills in the chat type, whichever comes first', async (store) => {
    const mention = said('C1', 1, { chatType: 'unknown' });
    const message = said('C1', 1, { chatType: 'group' });
    assert.equal(await store.inbox.accept(mention, { now: 1 }), 'stored');
    assert.equal(await store.inbox.accept(message, { now: 1 }), 'merged');
    assert.equal(await store.inbox.accept(mention, { now: 1 }), 'duplicate');
    assert.equal((await store.inbox.take('telegram:C1', 1))?.message.chatType, 'group');
    await store.commit({ done: mention.id });

    const other = { ...message, id: 'telegram:C1:2' };
    assert.equal(await store.inbox.accept(other, { now: 1 }), 'stored');
    assert.equal(await store.inbox.accept({ ...other, chatType: 'unknown' }, { now: 1 }), 'duplicate');
    assert.equal((await store.inbox.take('telegram:C1', 1))?.message.chatType, 'group');
  });

  storeTest(
    'Q2 a twin completes an item that is tried again, and leaves a finished one alone',
    async (store) => {
      await store.inbox.accept(said('C1', 1, { chatType: 'unknown' }), { now: 1 });
      await store.inbox.take('telegram:C1', 1);
      const twin = said('C1', 1, { chatType: 'channel', external: true });
      assert.equal(await store.inbox.accept(twin, { now: 1 }), 'merged');
      const item = await store.inbox.take('telegram:C1', 2);
      assert.deepEqual([item?.message.chatType, item?.message.external], ['channel', true]);

      await store.inbox.accept(said('C2', 1, { chatType: 'unknown' }), { now: 1 });
      await store.commit({ done: 'telegram:C2:1' });
      assert.equal(await store.inbox.accept(said('C2', 1, { chatType: 'group' }), { now: 1 }), 'duplicate');
      assert.equal(await store.inbox.take('telegram:C2', 1), undefined);
    },
  );

  storeTest('Q3 a queue gives its items in order, the same one until it is finished', async (store) => {
    for (const n of [1, 2, 3]) await store.inbox.accept(said('1', n), { now: 1 });
    await store.inbox.accept(said('2', 1), { now: 1 });
    assert.equal(await takenText(store, 'telegram:1'), 'm1');
    assert.equal(await takenText(store, 'telegram:1'), 'm1');
    await store.commit({ done: 'telegram:1:1' });
    assert.equal(await takenText(store, 'telegram:1'), 'm2');
    await store.commit({ done: 'telegram:1:2' });
    await store.commit({ done: 'telegram:1:3' });
    assert.equal(await store.inbox.take('telegram:1', 1), undefined);
    assert.equal(await takenText(store, 'telegram:2'), 'm1');
  });

  storeTest('Q3 a queue holds 50 waiting items; the next is refused and not remembered', async (store) => {
    for (let n = 1; n <= 50; n++) {
      assert.equal(await store.inbox.accept(said('1', n), { now: 1 }), 'stored');
    }
    assert.equal(await store.inbox.accept(said('1', 51), { now: 1 }), 'queue_full');
    assert.equal(await store.inbox.accept(said('1', 50), { now: 1 }), 'duplicate');
    assert.equal(await store.inbox.accept(said('2', 1), { now: 1 }), 'stored');
    await store.commit({ done: 'telegram:1:1' });
    assert.equal(await store.inbox.accept(said('1', 51), { now: 1 }), 'stored');
    assert.equal((await store.inbox.list('waiting')).length, 51);
  });

  storeTest(
    'Q3 the item that is being worked on is none of the 50 that wait, until it is put off',
    async (store) => {
      const accept = (n: number, join?: string) =>
        store.inbox.accept(said('1', n), {
          now: 1,
          ...(join && { join: { key: join, holdMs: 0, glue: () => '' } }),
        });
      for (let n = 1; n <= 50; n++) await accept(n);
      const taken = await store.inbox.take('telegram:1', 1);
      assert.equal(taken?.key, 'telegram:1:1');
      assert.equal(await accept(51), 'stored');
      assert.equal(await accept(52), 'queue_full');
      assert.equal(await accept(53, 'album'), 'queue_full', 'however it is accepted');
      await store.inbox.postpone('telegram:1:1', 'later', 2);
      await store.commit({ done: 'telegram:1:2' });
      assert.equal(await accept(52), 'queue_full', 'what was put off waits again');
      await store.inbox.take('telegram:1', 3);
      assert.equal(await accept(53, 'album'), 'stored', 'however it is accepted');
    },
  );

  storeTest('Q3 a failed item holds back its own queue until it is due again', async (store) => {
    for (const chat of ['1', '2'])
      for (const n of [1, 2]) await store.inbox.accept(said(chat, n), { now: 1 });
    await store.inbox.take('telegram:1', 1);
    assert.equal(await store.inbox.fail('telegram:1:1', 'no answer', 100), 1);
    assert.equal(await takenText(store, 'telegram:2', 99), 'm1');
    assert.equal(await store.inbox.take('telegram:1', 99), undefined);
    const again = await store.inbox.take('telegram:1', 100);
    assert.deepEqual([again?.tries, again?.error], [1, 'no answer']);
    await store.inbox.postpone('telegram:1:1', 'got somewhere', 200);
    assert.equal(await store.inbox.take('telegram:1', 199), undefined);
    const later = await store.inbox.take('telegram:1', 200);
    assert.deepEqual([later?.tries, later?.error, later?.interruptedAt], [1, 'got somewhere', undefined]);
    assert.equal(await store.inbox.fail('telegram:1:1', 'no answer', 300), 2);
  });

  storeTest(
    'Q3 an item that is set aside lets its queue go on and can be retried or dropped',
    async (store) => {
      for (const n of [1, 2]) await store.inbox.accept(said('1', n), { now: 1 });
      assert.equal(await store.inbox.fail('telegram:1:1', 'poison', undefined), 1);
      assert.equal(await takenText(store, 'telegram:1'), 'm2');
      const dead = await store.inbox.list('dead');
      assert.deepEqual(
        dead.map(({ key, error, status, message }) => [key, error, status, message?.text]),
        [['telegram:1:1', 'poison', 'dead', 'm1']],
      );
      assert.equal(await store.inbox.retry('telegram:1:2'), false);
      assert.equal(await store.inbox.retry('telegram:1:1'), true);
      const revived = await store.inbox.take('telegram:1', 1);
      assert.deepEqual([revived?.message.text, revived?.tries, revived?.error], ['m1', 0, undefined]);
      await store.inbox.fail('telegram:1:1', 'poison', undefined);
      assert.equal(await store.inbox.drop('telegram:1:1'), true);
      assert.equal(await store.inbox.drop('telegram:1:1'), false);
      assert.equal(await store.inbox.drop('nothing'), false);
      assert.deepEqual(await store.inbox.list('dead'), []);
    },
  );

  storeTest('Q3 an item that was finished meanwhile stays finished when its try fails', async (store) => {
    await store.inbox.accept(said('1', 1), { now: 1 });
    await store.inbox.fail('telegram:1:1', 'once', 1);
    await store.inbox.take('telegram:1', 1);
    await store.inbox.drop('telegram:1:1');
    assert.equal(await store.inbox.fail('telegram:1:1', 'aborted', 5), 1);
    assert.equal(await store.inbox.take('telegram:1', 10), undefined);
    assert.equal(await store.inbox.fail('nothing', 'aborted', 5), 0);
  });

  storeTest('Q3 an item that was taken and neither finished nor failed says when', async (store) => {
    await store.inbox.accept(said('1', 1), { now: 1 });
    assert.equal((await store.inbox.take('telegram:1', 10))?.interruptedAt, undefined);
    assert.equal((await store.inbox.take('telegram:1', 20))?.interruptedAt, 10);
    await store.inbox.fail('telegram:1:1', 'no answer', 30);
    assert.equal((await store.inbox.take('telegram:1', 30))?.interruptedAt, undefined);
  });

  storeTest('Q3 who looks at what is under way sees when it was taken', async (store) => {
    for (const n of [1, 2]) await store.inbox.accept(said('1', n), { now: 1 });
    await store.inbox.take('telegram:1', 10);
    const seen = async () => (await store.inbox.list('waiting')).map(({ takenAt }) => takenAt);
    assert.deepEqual(await seen(), [10, undefined]);
    await store.inbox.postpone('telegram:1:1', 'got somewhere', 20);
    assert.deepEqual(await seen(), [undefined, undefined]);
  });

  storeTest(
    'Q4 what nobody has taken is dropped when it is stopped, what is under way is marked',
    async (store) => {
      for (const n of [1, 2]) await store.inbox.accept(said('1', n), { now: 1 });
      assert.equal((await store.inbox.take('telegram:1', 1))?.stopped, undefined);
      const items = ['telegram:1:1', 'telegram:1:2', 'telegram:1:9'];
      const none = { dropped: [], stopping: [], cancelled: [] };
      assert.deepEqual(await store.stop({ items }), {
        ...none,
        dropped: ['telegram:1:2'],
        stopping: ['telegram:1:1'],
      });
      const [item, ...others] = await store.inbox.list('waiting');
      assert.deepEqual([item?.key, item?.stopped, others], ['telegram:1:1', true, []]);
      assert.equal((await store.inbox.take('telegram:1', 2))?.stopped, true, 'forgotten over a crash');
      await store.inbox.fail('telegram:1:1', 'poison', undefined);
      assert.deepEqual(await store.stop({ items }), none);
      await store.inbox.retry('telegram:1:1');
      assert.equal((await store.inbox.take('telegram:1', 3))?.stopped, undefined);
      assert.equal(await store.inbox.accept(said('1', 2), { now: 1 }), 'duplicate');
    },
  );

  storeTest('Q4 a queue is listed with its threads and with the work beside it', async (store) => {
    const queues = ['1', '1/7', '1~run', '10', '2'];
    const work = queues.map((queue) => ({
      queue: `telegram:${queue}`,
      message: said('1', 1, { id: queue }),
    }));
    await store.commit({ work });
    const listed = async (queue: string) => (await store.inbox.waitingIn(queue)).map(({ key }) => key);
    assert.deepEqual(await listed('telegram:1'), ['1', '1/7', '1~run']);
    assert.deepEqual(await listed('telegram:2'), ['2']);
  });

  storeTest('H11 what waits behind an item is in its queue alone, oldest first', async (store) => {
    const message = (id: string) => said('1', 1, { id });
    await store.commit({
      work: [
        ...['a', 'b', 'c'].map((id) => ({ queue: 'telegram:1', message: message(id) })),
        ...['1/7', '1~run', '10'].map((queue) => ({ queue: `telegram:${queue}`, message: message(queue) })),
      ],
    });
    const [first] = await store.inbox.waitingIn('telegram:1');
    assert.ok(first);
    assert.deepEqual(
      (await store.inbox.behind(first)).map(({ key, message }) => [key, message()?.id]),
      [
        ['b', 'b'],
        ['c', 'c'],
      ],
    );
    await store.commit({ done: 'c' });
    assert.deepEqual(
      (await Promise.all([first, { ...first, queue: 'telegram:2' }].map(store.inbox.behind))).map(
        ({ length }) => length,
      ),
      [1, 0],
    );
  });

  storeTest('U9 work beside a conversation is an item of a queue of its own, once', async (store) => {
    await store.inbox.accept(said('1', 1), { now: 1 });
    const work = [{ queue: 'telegram:1~run', message: said('1', 1, { id: 'run:1', text: 'dig' }) }];
    await store.commit({ work });
    await store.commit({ work });
    assert.equal((await store.inbox.take('telegram:1~run', Date.now()))?.message.text, 'dig');
    await store.commit({ done: 'run:1' });
    await store.commit({ work });
    assert.equal(await store.inbox.take('telegram:1~run', Date.now()), undefined);
    assert.equal(await takenText(store, 'telegram:1'), 'm1');
  });

  joinContract(storeTest);
}

const join: Join = { key: 'album 9', holdMs: 500, glue: () => '\n' };

function joinContract(storeTest: StoreTest): void {
  storeTest('H3 messages of one thing become one item, held while more may come', async (store) => {
    const photo = (n: number, change: Partial<Message> = {}) =>
      said('1', n, { text: '', attachments: [{ kind: 'photo', name: `${n}.jpg` }], ...change });
    assert.equal(await store.inbox.accept(photo(1), { now: 1_000, join }), 'stored');
    assert.equal(await store.inbox.accept(photo(2, { text: 'look' }), { now: 1_400, join }), 'merged');
    assert.equal(await store.inbox.accept(photo(3, { text: 'here' }), { now: 1_600, join }), 'merged');
    assert.equal(await store.inbox.accept(photo(2), { now: 1_700, join }), 'duplicate');
    assert.equal(await store.inbox.take('telegram:1', 1_499), undefined);
    const item = await store.inbox.take('telegram:1', 1_500);
    assert.equal(item?.key, 'telegram:1:1');
    assert.equal(item?.message.text, 'look\nhere');
    assert.deepEqual(
      item?.message.attachments.map(({ name }) => name),
      ['1.jpg', '2.jpg', '3.jpg'],
    );
    await store.commit({ done: 'telegram:1:1' });
    assert.equal(await store.inbox.accept(photo(3), { now: 1_800, join }), 'duplicate');
  });

  storeTest(
    'H3 what comes after the item was taken, or from somebody else, is an item of its own',
    async (store) => {
      await store.inbox.accept(said('1', 1), { now: 0, join });
      const stranger = { id: 'telegram:666', name: 'Eve', kind: 'person' } as const;
      assert.equal(await store.inbox.accept(said('1', 2, { sender: stranger }), { now: 0, join }), 'stored');
      assert.equal(await store.inbox.accept(said('2', 1), { now: 0, join }), 'stored');
      await store.inbox.take('telegram:1', 500);
      assert.equal(await store.inbox.accept(said('1', 3), { now: 501, join }), 'stored');
      assert.equal(await takenText(store, 'telegram:1', 501), 'm1');
    },
  );

  storeTest('H3 only what continues the newest part is added, and what is begun is known', async (store) => {
    const after = (n: number): Join => ({
      ...join,
      glue: ({ text }) => (text === `m${n}` ? '+' : undefined),
    });
    assert.equal(await store.inbox.begun(said('1', 1), join), undefined);
    await store.inbox.accept(said('1', 1), { now: 0, join });
    assert.equal(await store.inbox.begun(said('1', 3), after(2)), undefined);
    assert.equal(await store.inbox.accept(said('1', 3), { now: 0, join: after(2) }), 'stored');
    assert.equal(
      await store.inbox.accept(said('1', 2), { now: 0, join: after(1) }),
      'stored',
      'an older one',
    );
    assert.equal((await store.inbox.begun(said('1', 4), after(2)))?.text, 'm2');
    assert.equal((await store.inbox.begun(said('1', 2), after(9)))?.text, 'm2', 'its own part');
    assert.equal(await store.inbox.begun(said('2', 4), join), undefined, 'another place');
    assert.equal(await store.inbox.accept(said('1', 4), { now: 0, join: after(2) }), 'merged');
    await store.inbox.take('telegram:1', 500);
    assert.equal(await takenText(store, 'telegram:1', 500), 'm1');
    for (const n of [1, 3]) await store.commit({ done: `telegram:1:${n}` });
    assert.equal(await takenText(store, 'telegram:1', 500), 'm2+m4');
    assert.equal(await store.inbox.begun(said('1', 5), after(4)), undefined, 'it is taken');
  });

  storeTest(
    'H3 an edit replaces its own message of a joined item, until the item is taken',
    async (store) => {
      await store.inbox.accept(said('1', 1), { now: 0, join });
      await store.inbox.accept(said('1', 2), { now: 0, join });
      assert.equal(await store.inbox.replace(said('1', 2, { text: 'edited' })), 'replaced');
      assert.equal(await takenText(store, 'telegram:1', 500), 'm1\nedited');
      assert.equal(await store.inbox.replace(said('1', 1, { text: 'late' })), 'too_late');
      await store.inbox.fail('telegram:1:1', 'no answer', 1);
      assert.equal(await store.inbox.replace(said('1', 1, { text: 'late' })), 'too_late');
      await store.commit({ done: 'telegram:1:1' });
      assert.equal(await store.inbox.replace(said('1', 1, { text: 'late' })), 'too_late');
      assert.equal(await store.inbox.replace(said('1', 9)), 'unknown');
    },
  );

  storeTest('Q3 one thing can not grow without bounds while it waits', async (store) => {
    for (let n = 1; n <= 51; n++) await store.inbox.accept(said('1', n), { now: 0, join });
    assert.equal((await store.inbox.list('waiting')).length, 2);
  });

  storeTest(
    'H11 an item is taken beside the one of its queue, once it is due, and ends with it',
    async (store) => {
      await store.inbox.accept(said('1', 1), { now: 1 });
      await store.inbox.accept(said('1', 2), { now: 1 });
      await store.inbox.accept(said('1', 3), {
        now: 1,
        join: { key: 'album', holdMs: 100, glue: () => ' ' },
      });
      await store.inbox.take('telegram:1', 1);
      const along = await store.inbox.takeAlong('telegram:1:2', 1);
      assert.deepEqual([along?.message.text, along?.interruptedAt], ['m2', undefined]);
      assert.equal(await store.inbox.replace(said('1', 2, { text: 'edited' })), 'too_late');
      assert.equal(await store.inbox.takeAlong('telegram:1:3', 1), undefined, 'parts of it may still come');
      assert.equal((await store.inbox.takeAlong('telegram:1:3', 101))?.message.text, 'm3');
      assert.equal(await takenText(store, 'telegram:1'), 'm1', 'the queue stays where it is');
      const entry = {
        kind: 'user',
        item: 'telegram:1:2',
        joins: 'telegram:1:1',
        content: 'm2',
        at: 1,
      } as const;
      await store.commit({ entries: [{ transcript: 'telegram:1', entry }], done: 'telegram:1:2' });
      assert.equal(
        await store.inbox.takeAlong('telegram:1:2', 1),
        undefined,
        'what is done is taken no more',
      );
      assert.deepEqual((await store.transcripts.read('telegram:1')).entries[0]?.entry, entry);
      await store.commit({ done: 'telegram:1:1' });
      assert.equal(await takenText(store, 'telegram:1', 101), 'm3');
    },
  );

  storeTest('H11 what a person stopped is not taken along', async (store) => {
    await store.inbox.accept(said('1', 1), { now: 1 });
    await store.inbox.accept(said('1', 2), { now: 1 });
    await store.inbox.take('telegram:1', 1);
    await store.inbox.takeAlong('telegram:1:2', 1);
    await store.stop({ items: ['telegram:1:2'] });
    assert.equal(await store.inbox.takeAlong('telegram:1:2', 1), undefined);
  });
}
