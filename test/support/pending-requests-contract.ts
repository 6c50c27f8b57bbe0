import assert from 'node:assert/strict';
import { conversationKey } from '../../src/core/conversation.ts';
import { outcomeKey, type PendingRequest } from '../../src/store/pending-requests.ts';
import { makeMessage } from './make-message.ts';
import type { StoreTest } from './store-contract.ts';
import { equalData } from './equal-data.ts';

const room = { channel: 'slack', chat: 'C1', thread: '17.2' };
const far = Date.UTC(2100, 0, 1);

function ask(id: string, change: Partial<PendingRequest> = {}): Omit<PendingRequest, 'state' | 'answer'> {
  return {
    id,
    kind: 'approval',
    conversation: room,
    requester: 'slack:U1',
    transcript: 'slack:C1/17.2',
    toolUseId: 'toolu_1',
    payload: { tool: 'bash', input: { command: 'ls "ä"', deep: [1, null, { a: true }] } },
    askedAt: 10,
    expiresAt: far,
    ...change,
  };
}

/** What every store promises of open questions and approvals (T8, U14), and of the sums of usage. */
export function pendingRequestsContract(storeTest: StoreTest): void {
  storeTest('T8 what is asked comes back as it was asked, in order, once', async (store) => {
    await store.pendingRequests.add(ask('b'));
    await store.pendingRequests.add(ask('a', { kind: 'question', payload: {} }));
    await store.pendingRequests.add(ask('b', { requester: 'slack:U666' }));
    await store.pendingRequests.add(ask('elsewhere', { conversation: { channel: 'slack', chat: 'C1' } }));
    equalData(await store.pendingRequests.open(room), [
      { ...ask('b'), state: 'open' },
      { ...ask('a', { kind: 'question', payload: {} }), state: 'open' },
    ]);
    assert.equal(await store.pendingRequests.find('nothing'), undefined);
    await store.pendingRequests.answer('b', { by: 'slack:U1', value: 'approve', at: 20 });
    assert.deepEqual(
      (await store.pendingRequests.waiting()).map(({ id }) => id),
      ['a', 'elsewhere'],
    );
  });

  storeTest(
    'T8 each of many who look at one moment finds what its own conversation waits for',
    async (store) => {
      const chats = Array.from({ length: 5 }, (_, n) => ({ channel: 'slack', chat: `C${n}` }));
      for (const n of [3, 1, 3])
        await store.pendingRequests.add(ask(`${n}`, { conversation: chats[n] ?? room }));
      await store.pendingRequests.add(ask('3 again', { conversation: chats[3] ?? room }));
      const found = await Promise.all([...chats, ...chats].map((chat) => store.pendingRequests.open(chat)));
      const ids = found.map((requests) => requests.map(({ id }) => id));
      const wanted = [[], ['1'], [], ['3', '3 again'], []];
      assert.deepEqual(ids, [...wanted, ...wanted]);
    },
  );

  storeTest('T8 the first answer counts, every later one is late', async (store) => {
    await store.pendingRequests.add(ask('a'));
    const answer = { by: 'slack:U1', value: 'approve', at: 20 };
    const both = await Promise.all([
      store.pendingRequests.answer('a', answer),
      store.pendingRequests.answer('a', { ...answer, value: 'deny' }),
    ]);
    assert.deepEqual([...both].sort(), ['answered', 'late']);
    const kept = await store.pendingRequests.find('a');
    assert.equal(kept?.state, 'answered');
    assert.equal(kept.answer?.value, both[0] === 'answered' ? 'approve' : 'deny');
    assert.deepEqual(kept.payload, ask('a').payload);
    assert.equal(await store.pendingRequests.answer('nothing', answer), 'unknown');
    assert.deepEqual(await store.pendingRequests.open(room), []);
  });

  storeTest(
    'T8 an answer after the end of the time is late, and expiring says whose time is over',
    async (store) => {
      await store.pendingRequests.add(ask('short', { expiresAt: 100 }));
      await store.pendingRequests.add(ask('long', { expiresAt: 200 }));
      assert.equal(
        await store.pendingRequests.answer('short', { by: 'x', value: 'approve', at: 100 }),
        'late',
      );
      assert.deepEqual(await store.pendingRequests.expire(150), ['short']);
      assert.deepEqual(await store.pendingRequests.expire(150), []);
      assert.equal((await store.pendingRequests.find('short'))?.state, 'expired');
      assert.equal(
        await store.pendingRequests.answer('long', { by: 'x', value: 'approve', at: 199 }),
        'answered',
      );
    },
  );

  storeTest(
    'T8 stopping ends the open questions of a conversation, or only those of one person',
    async (store) => {
      for (const [id, requester] of [
        ['a', 'slack:U1'],
        ['b', 'slack:U2'],
        ['c', 'slack:U2'],
      ] as const)
        await store.pendingRequests.add(ask(id, { requester }));
      const end = async (requester?: string) => {
        const pendingRequests = [{ conversation: room, ...(requester === undefined ? {} : { requester }) }];
        return (await store.stop({ items: [], pendingRequests })).cancelled.toSorted();
      };
      assert.deepEqual(await end('slack:U1'), ['a']);
      assert.deepEqual(await end(), ['b', 'c']);
      assert.equal(
        await store.pendingRequests.answer('b', { by: 'slack:U2', value: 'approve', at: 20 }),
        'late',
      );
      assert.equal((await store.pendingRequests.find('b'))?.state, 'cancelled');
    },
  );

  storeTest(
    'T8 Q4 what runs, what waits and what is asked, in one thread and another, is stopped in one step',
    async (store) => {
      const thread = { ...room, thread: '18.1' };
      const here = makeMessage({ id: 'slack:C1:1', conversation: room });
      const waits = makeMessage({ id: 'slack:C1:2', conversation: thread });
      for (const message of [here, waits]) await store.inbox.accept(message, { now: 1 });
      await store.inbox.take(conversationKey(room), 1);
      await store.pendingRequests.add(ask('a'));
      await store.pendingRequests.add(ask('b', { conversation: thread, requester: 'slack:U2' }));
      await store.pendingRequests.add(ask('c', { conversation: thread, requester: 'slack:U3' }));
      const stopped = await store.stop({
        items: [here.id, waits.id],
        pendingRequests: [{ conversation: room }, { conversation: thread, requester: 'slack:U2' }],
      });
      assert.deepEqual(stopped, { stopping: [here.id], dropped: [waits.id], cancelled: ['a', 'b'] });
      assert.equal((await store.pendingRequests.find('c'))?.state, 'open');
    },
  );

  storeTest(
    'T8 L6 an approval that ended without a word about it is given to one who goes on, and later again',
    async (store) => {
      const now = far - 1_000_000;
      for (const id of ['told', 'silent', 'new', 'open']) await store.pendingRequests.add(ask(id));
      await store.pendingRequests.add(ask('question', { kind: 'question' }));
      for (const id of ['told', 'silent', 'question'])
        await store.pendingRequests.answer(id, { by: 'slack:U1', value: 'approve', at: now - 10_000 });
      await store.pendingRequests.answer('new', { by: 'slack:U1', value: 'approve', at: now - 9_999 });
      const row = (id: string) => ({
        key: `${outcomeKey(id)}#0`,
        conversation: room,
        part: { markdown: 'Approved.' },
      });
      await store.commit({ outbox: [row('told')] });
      const both = await Promise.all([
        store.pendingRequests.takeUnshown(now),
        store.pendingRequests.takeUnshown(now),
      ]);
      assert.deepEqual(both.flat(), ['silent']);
      assert.equal((await store.pendingRequests.find('silent'))?.answer?.at, now - 10_000);
      assert.deepEqual(await store.pendingRequests.takeUnshown(now + 1), ['new']);
      assert.deepEqual((await store.pendingRequests.takeUnshown(now + 600_000)).toSorted(), [
        'new',
        'silent',
      ]);
      await store.commit({ outbox: [row('silent')] });
      assert.deepEqual(await store.pendingRequests.takeUnshown(now + 1_200_000), ['new']);
      assert.deepEqual(await store.pendingRequests.takeUnshown(far + 86_400_000), []);
    },
  );

  storeTest('U10 usage is summed by day, sender, conversation, skill and model', async (store) => {
    const use = {
      day: '2026-11-22',
      sender: 'slack:U1',
      conversation: 'slack:C1',
      skill: '',
      model: 'm',
      tokens: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 },
    };
    await store.commit({ usage: [use, use] });
    await store.commit({
      usage: [
        { ...use, skill: 'dice' },
        { ...use, day: '2026-11-21', sender: 'slack:U2' },
      ],
    });
    const today = await store.usage({ day: '2026-11-22' });
    assert.deepEqual(
      today.map(({ skill, requests, tokens }) => [skill, requests, tokens.input, tokens.cacheWrite]),
      [
        ['', 2, 2, 8],
        ['dice', 1, 1, 4],
      ],
    );
    assert.deepEqual(
      (await store.usage({ sender: 'slack:U2' })).map(({ day }) => day),
      ['2026-11-21'],
    );
    assert.equal((await store.usage({})).length, 3);
  });

  storeTest('U10 Q5 a run counts once, as far as it came last, and stays on its day', async (store) => {
    const of = { sender: 'slack:U1', conversation: 'slack:C1', skill: 'dice', model: 'm' };
    const tokens = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
    const run = (id: string, steps: number, failed: boolean, at: number) => ({
      ...{ ...of, id, day: at > 50 ? '2026-11-23' : '2026-11-22', steps, failed, at },
    });
    const entry = { kind: 'notice', text: 'a step', at: 1 } as const;
    await store.commit({
      entries: [{ transcript: 'slack:C1#run:a', entry }],
      runs: [run('a', 0, false, 10)],
    });
    await store.commit({ usage: [{ ...of, day: '2026-11-22', tokens }] });
    await store.commit({ runs: [run('a', 3, true, 20), run('b', 2, false, 15)] });
    await store.commit({ runs: [run('a', 4, false, 90)] });
    await store.commit({ runs: [{ ...run('c', 0, true, 5), model: '' }] });
    equalData(await store.stats('2026-11-22'), [
      {
        ...{ ...of, model: '', day: '2026-11-22', requests: 0 },
        tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        ...{ runs: 1, steps: 0, failures: 1, lastRunAt: 5 },
      },
      {
        ...{ ...of, day: '2026-11-22', requests: 1, tokens },
        ...{ runs: 2, steps: 6, failures: 0, lastRunAt: 90 },
      },
    ]);
    await store.commit({ usage: [{ ...of, skill: '', day: '2026-11-23', tokens }] });
    equalData(await store.stats('2026-11-23'), [
      {
        ...{ ...of, skill: '', day: '2026-11-23', requests: 1, tokens },
        ...{ runs: 0, steps: 0, failures: 0, lastRunAt: undefined },
      },
    ]);
  });
}
