import assert from 'node:assert/strict';
import { createHolds } from '../../src/access/holds.ts';
import { conversationKey } from '../../src/core/conversation.ts';
import type { Entry } from '../../src/core/entry.ts';
import type { Message } from '../../src/core/message.ts';
import { userContent } from '../../src/runs/user-content.ts';
import type { Store } from '../../src/store/store.ts';
import { makeMessage } from './make-message.ts';
import type { StoreTest } from './store-contract.ts';

const day = 24 * 60 * 60_000;
const now = Date.now();
const old = now - 100 * day;
const tokens = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 };

const ada = { id: 'telegram:42', name: 'Ada', kind: 'person' } as const;
const bob = { id: 'telegram:421', name: 'Bob', kind: 'person' } as const;
const group = { channel: 'telegram', chat: '-100' } as const;
const other = { channel: 'telegram', chat: '-1001' } as const;

const answer = (text: string, at = old): Entry => ({
  ...{ kind: 'assistant', content: [{ type: 'text', text, citations: null }], stopReason: 'end_turn' },
  ...{ tokens, model: 'm', at },
});

function message(sender: Message['sender'], n: number, more: Partial<Message> = {}): Message {
  const conversation = more.conversation ?? { channel: 'telegram', chat: sender.id.slice(9) };
  return makeMessage({
    ...{ id: `${conversationKey(conversation)}:${n}`, sender, conversation },
    ...{ chatType: more.conversation === undefined ? 'private' : 'group', text: `${sender.name} says ${n}` },
    ...more,
  });
}

function said(of: Message, background: readonly Message[] = []): Entry {
  return {
    kind: 'user',
    item: of.id,
    sender: of.sender.id,
    content: userContent(of, { background }),
    at: old,
  };
}

/** Something of Ada and of Bob in every table that retention looks at. */
async function fill(store: Store): Promise<void> {
  for (const who of [ada, bob]) {
    const direct = message(who, 1);
    const room = conversationKey(direct.conversation);
    await store.inbox.accept(direct, { now: old });
    await store.commit({
      entries: [
        { transcript: room, entry: said(direct) },
        { transcript: room, entry: answer(`to ${who.name} alone`) },
      ],
      outbox: [
        {
          key: `${direct.id}!answer`,
          conversation: direct.conversation,
          part: { markdown: `for ${who.name}` },
        },
      ],
      usage: [{ day: '2026-01-01', sender: who.id, conversation: room, skill: '', model: 'm', tokens }],
      runs: [
        {
          ...{ id: `run ${who.name}`, day: '2026-01-01', sender: who.id, conversation: room, skill: 'dice' },
          ...{ model: 'm', steps: 1, failed: false, at: old },
        },
      ],
      done: direct.id,
    });
    await store.memories.add(
      {
        ...{ id: `note ${who.name}`, text: `likes ${who.name}`, scope: 'person', author: who.id },
        ...{ authorName: who.name, chat: who.id, isPrivate: true, isApproved: false, at: old },
      },
      9,
    );
    await store.feedback.give({
      ...{ id: `thumb ${who.name}`, sender: who.id, thumb: 'down', at: old },
      about: {
        ...{ item: direct.id, skills: [], model: 'm', tools: [], message: '5' },
        conversation: who === ada ? group : other,
      },
    });
  }
  const inGroup = [message(bob, 1, { conversation: group }), message(ada, 2, { conversation: group })];
  await store.commit({
    entries: [
      { transcript: 'telegram:-100', entry: said(inGroup[0]!) },
      { transcript: 'telegram:-100', entry: answer('to Bob in the group') },
      { transcript: 'telegram:-100', entry: said(inGroup[1]!, [message(bob, 0, { conversation: group })]) },
      { transcript: 'telegram:-100', entry: answer('to Ada in the group') },
      { transcript: 'telegram:-1001', entry: said(message(bob, 1, { conversation: other })) },
      { transcript: 'telegram:-1001', entry: answer('elsewhere') },
    ],
  });
}

async function left(store: Store) {
  const length = async (id: string): Promise<number> => (await store.transcripts.read(id)).entries.length;
  return {
    direct: await Promise.all(['telegram:42', 'telegram:421'].map(length)),
    groups: await Promise.all(['telegram:-100', 'telegram:-1001'].map(length)),
    notes: (await Promise.all([ada.id, bob.id].map((id) => store.memories.by(id)))).map((of) => of.length),
    thumbs: (await store.feedback.list()).map(({ sender }) => sender),
    usage: (await store.usage({})).map(({ sender }) => sender).sort(),
    runs: (await store.stats('2000-01-01')).flatMap(({ sender, runs }) => (runs > 0 ? [sender] : [])),
  };
}

const holdsOf = (store: Store) =>
  createHolds({ store, audit: { record: async () => undefined }, clock: { now: () => now } as never });

/** What every store keeps under a legal hold, and what it says of a person (L18). */
export function holdsContract(storeTest: StoreTest): void {
  storeTest(
    'L18 retention keeps what is of a person under a legal hold in every table, and removes all else',
    async (store) => {
      await fill(store);
      const holds = holdsOf(store);
      await holds.add({ id: ada.id, by: 'me' });
      await store.prune(now, 90 * day);
      assert.deepEqual(await left(store), {
        direct: [2, 0],
        groups: [4, 0],
        notes: [1, 0],
        thumbs: [ada.id],
        usage: [ada.id],
        runs: [ada.id],
      });
      assert.equal((await holds.remove(ada.id, 'me'))?.id, ada.id);
      await store.prune(now, 90 * day);
      const none = { direct: [0, 0], groups: [0, 0], notes: [0, 0], thumbs: [], usage: [], runs: [] };
      assert.deepEqual(await left(store), none);
    },
  );

  storeTest('L18 retention keeps what is in a chat under a legal hold, its ratings too', async (store) => {
    await fill(store);
    await store.commit({ entries: [{ transcript: 'telegram:-1001/7', entry: answer('in a thread') }] });
    await holdsOf(store).add({ id: 'telegram:-1001', by: 'me' });
    await store.prune(now, 90 * day);
    assert.deepEqual(await left(store), {
      ...{ direct: [0, 0], groups: [0, 2], notes: [0, 0], thumbs: [bob.id], usage: [], runs: [] },
    });
    assert.equal((await store.transcripts.read('telegram:-1001/7')).entries.length, 1);
  });

  storeTest(
    'L18 what a store says of a person is what forgetting removes, without the words of others',
    async (store) => {
      await fill(store);
      const { records, places } = await store.person(ada.id);
      const text = JSON.stringify(records);
      for (const mine of [
        'Ada says 1',
        'Ada says 2',
        'to Ada alone',
        'to Ada in the group',
        'likes Ada',
        'for Ada',
      ])
        assert.ok(text.includes(mine), mine);
      for (const theirs of ['Bob', bob.id]) assert.ok(!text.includes(theirs), theirs);
      assert.deepEqual(places, ['telegram:42']);
      const count = (...tables: readonly string[]) =>
        records.filter(({ from }) => tables.includes(from)).length;
      const { places: _places, files: _files, ...gone } = await store.forget(ada.id);
      assert.deepEqual(gone, {
        messages: count('inbox', 'group_context'),
        entries: count('entries'),
        outbox: count('outbox'),
        asks: count('pending_requests'),
        routines: count('routines'),
        feedback: count('feedback'),
        memories: count('memories'),
        usage: count('usage', 'runs'),
      });
      assert.ok(
        Object.entries(gone).every(([what, n]) => n > 0 || ['asks', 'routines'].includes(what)),
        JSON.stringify(gone),
      );
      assert.deepEqual((await store.person(ada.id)).records, []);
    },
  );

  storeTest('L18 a long conversation is read whole, once', async (store) => {
    const entries = Array.from({ length: 1_203 }, (_, n) => ({
      transcript: 'telegram:42',
      entry: n === 0 ? said(message(ada, 1)) : answer(`answer ${n}`),
    }));
    await store.commit({ entries });
    const { records } = await store.person(ada.id);
    assert.equal(records.length, 1_203);
    assert.equal(new Set(records.map(({ data }) => JSON.stringify(data))).size, 1_203);
  });

  storeTest('L18 a hold that is removed takes nothing from another one', async (store) => {
    await fill(store);
    const holds = holdsOf(store);
    await holds.add({ id: 'telegram:-1001', by: 'me' });
    await holds.add({ id: 'slack:-1001', by: 'me' });
    assert.equal(await holds.add({ id: 'slack:-1001', by: 'you' }), false);
    await holds.remove('slack:-1001', 'me');
    await store.prune(now, 90 * day);
    assert.deepEqual((await left(store)).thumbs, [bob.id]);
    assert.deepEqual(
      (await holds.over(['telegram:-1001/7', 'telegram:-10011'])).map(({ id }) => id),
      ['telegram:-1001'],
    );
  });
}
