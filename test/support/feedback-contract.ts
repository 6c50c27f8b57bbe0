import assert from 'node:assert/strict';
import type { GivenThumb, Rated } from '../../src/store/feedback.ts';
import type { StoreTest } from './store-contract.ts';

const group = { channel: 'telegram', chat: '-100' } as const;
const day = 86_400_000;

const about: Rated = {
  item: 'telegram:-100:7',
  skills: [{ name: 'dice', version: 'a'.repeat(64) }],
  model: 'default',
  tools: ['use_skill', 'bash'],
  conversation: group,
  message: '8',
  own: { question: 'Roll "ä"', answer: 'Four', from: { words: 'forwarded', by: 'Eve', taint: 'mail' } },
};

export function thumb(id: string, at: number, more: Partial<GivenThumb> = {}): GivenThumb {
  return { id, sender: 'telegram:42', thumb: 'down', at, about, ...more };
}

/** What every store promises of thumbs under answers (U17). */
export function feedbackContract(storeTest: StoreTest): void {
  storeTest(
    'U17 a thumb comes back as it was given, with its provenance, the oldest first',
    async (store) => {
      const { feedback } = store;
      assert.equal(await feedback.give(thumb('b', 20)), true);
      assert.equal(await feedback.give(thumb('a', 10, { thumb: 'up', sender: 'telegram:43' })), true);
      assert.deepEqual(await feedback.list(), [
        { id: 'a', sender: 'telegram:43', thumb: 'up', at: 10, reason: undefined, about },
        { id: 'b', sender: 'telegram:42', thumb: 'down', at: 20, reason: undefined, about },
      ]);
      assert.equal((await feedback.find('b'))?.about.own?.from.taint, 'mail');
      assert.equal(await feedback.find('c'), undefined);
    },
  );

  storeTest('U17 each person has one thumb for each answer, and the last one counts', async (store) => {
    const { feedback } = store;
    const now = async () => (await feedback.list()).map((one) => `${one.thumb} ${one.at}`);
    await feedback.give(thumb('a', 10, { thumb: 'up' }));
    await feedback.give(thumb('a', 20));
    assert.deepEqual(await now(), ['down 20']);
    assert.equal(await feedback.give(thumb('a', 15, { thumb: 'up' })), false, 'it came late');
    assert.deepEqual(await now(), ['down 20']);
    // Platforms tell seconds, and what arrived last happened last then.
    assert.equal(await feedback.give(thumb('a', 20, { thumb: 'up' })), true);
    assert.deepEqual(await now(), ['up 20']);
    await Promise.all(
      [30, 50, 40].map((at) => feedback.give(thumb('a', at, { thumb: at === 50 ? 'down' : 'up' }))),
    );
    assert.deepEqual(await now(), ['down 50']);
  });

  storeTest(
    'U17 a thumb that is taken back counts no more, and an earlier one that comes late neither',
    async (store) => {
      const { feedback } = store;
      await feedback.give(thumb('a', 10));
      const back = (at: number, what: GivenThumb['thumb']) =>
        feedback.give({ id: 'a', sender: 'telegram:42', thumb: what, at });
      assert.equal(await back(20, 'up'), false, 'that is another thumb');
      assert.equal((await feedback.list()).length, 1);
      assert.equal(await back(30, 'down'), true);
      assert.deepEqual(await feedback.list(), []);
      assert.equal(await feedback.find('a'), undefined);
      assert.equal(await feedback.give(thumb('a', 25)), false);
      assert.deepEqual(await feedback.list(), []);
      assert.equal(await feedback.give(thumb('a', 40)), true);
      assert.equal((await feedback.list()).length, 1);
      // Another process heard of the end first.
      await feedback.give({ id: 'b', sender: 'telegram:42', thumb: 'down', at: 60 });
      assert.equal(await feedback.give(thumb('b', 50)), false);
    },
  );

  storeTest('U17 a reason belongs to a thumb down, and goes with it', async (store) => {
    const { feedback } = store;
    assert.equal(await feedback.explain('a', 'too long'), false);
    await feedback.give(thumb('a', 10, { thumb: 'up' }));
    assert.equal(await feedback.explain('a', 'too long'), false);
    await feedback.give(thumb('a', 20));
    assert.equal(await feedback.explain('a', 'too long'), true);
    await feedback.give(thumb('a', 21));
    assert.equal((await feedback.find('a'))?.reason, 'too long', 'the same event came again');
    await feedback.give(thumb('a', 30, { thumb: 'up' }));
    assert.equal((await feedback.find('a'))?.reason, undefined);
    await feedback.give(thumb('a', 40));
    assert.equal((await feedback.find('a'))?.reason, undefined);
  });

  storeTest(
    'U17 Q12 thumbs go after the retention and with their person; those of others stay',
    async (store) => {
      const { feedback } = store;
      const now = 100 * day;
      await feedback.give(thumb('old', now - 91 * day));
      await feedback.give(thumb('new', now - 89 * day));
      await feedback.give(thumb('other', now, { sender: 'telegram:421' }));
      await store.prune(now, 90 * day);
      assert.deepEqual(
        (await feedback.list()).map(({ id }) => id),
        ['new', 'other'],
      );
      assert.equal((await store.forget('telegram:42')).feedback, 1);
      assert.deepEqual(
        (await feedback.list()).map(({ id }) => id),
        ['other'],
      );
    },
  );

  storeTest(
    'U17 an answer is found by its message, in its chat and the threads of it alone',
    async (store) => {
      const part = { markdown: 'Four', made: { item: 'k', skills: about.skills, model: 'm', tools: [] } };
      const places = [
        group,
        { ...group, thread: '5' },
        { ...group, chat: '-1000' },
        { ...group, chat: '-200' },
      ];
      await store.commit({
        outbox: places.map((conversation, n) => ({ key: `k${n}#0`, conversation, part })),
      });
      const worker = store.outbox.startWorker({
        channels: ['telegram'],
        concurrency: 4,
        async run(queue) {
          const row = await store.outbox.next(queue, Date.now());
          if (row === undefined) return;
          const n = Number(row.key[1]);
          await store.outbox.sending(row.key);
          await store.outbox.sent(row.key, { id: n < 2 ? String(10 + n) : '10' });
        },
      });
      await worker.idle();
      await worker.stop();
      const found = async (message: string) => (await store.outbox.sentAs(group, message))?.key;
      assert.deepEqual(await Promise.all(['10', '11', '12'].map(found)), ['k0#0', 'k1#0', undefined]);
      const { outbox } = store;
      assert.deepEqual((await outbox.sentAs(group, '11'))?.part.made, part.made);
      assert.equal((await outbox.sentAs({ ...group, chat: '-1000' }, '10'))?.key, 'k2#0');
      assert.equal(await outbox.sentAs({ ...group, chat: '-20' }, '10'), undefined);
    },
  );
}
