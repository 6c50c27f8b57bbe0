import assert from 'node:assert/strict';
import { conversationKey } from '../../src/core/conversation.ts';
import type { Memory, SearchableText } from '../../src/core/memory.ts';
import type { Store } from '../../src/store/store.ts';
import type { StoreTest } from './store-contract.ts';

const day = 24 * 60 * 60_000;
const ada = 'telegram:42';
const group = { channel: 'telegram', chat: '-100' } as const;
const direct = { channel: 'telegram', chat: '42' } as const;

function memory(id: string, change: Partial<Memory> = {}): Memory {
  return {
    id,
    text: `note ${id}`,
    scope: 'person',
    author: ada,
    authorName: 'Ada',
    chat: ada,
    isPrivate: true,
    isApproved: false,
    source: '17',
    taint: 'gmail',
    from: { words: 'forwarded', by: 'Mallory' },
    at: 1,
    ...change,
  };
}

function line(text: string, change: Partial<SearchableText> = {}): SearchableText {
  return {
    holder: 'chat telegram:-100',
    transcript: conversationKey(group),
    conversation: group,
    asker: ada,
    author: ada,
    name: 'Ada',
    source: '7',
    text,
    at: 5,
    ...change,
  };
}

async function idsOf(store: Store, ...holders: Parameters<Store['memories']['of']>[0]) {
  return (await store.memories.of(holders, 10)).map(({ id }) => id);
}

async function found(
  store: Store,
  text: string,
  holder: SearchableText['holder'] = 'chat telegram:-100',
  limit = 10,
) {
  return (await store.memories.search(holder, text, limit)).map((one) => one.text);
}

/** What every store promises of memories and of the index of what was said (K1, K5, K6). */
export function memoriesContract(storeTest: StoreTest): void {
  storeTest('K1 a memory comes back whole, and only to who asks for its holder', async ({ memories }) => {
    const all = [
      memory('a'),
      memory('b', { author: 'telegram:421' }),
      memory('c', { scope: 'chat', chat: 'telegram:-100', isPrivate: false }),
      memory('d', { scope: 'team', isApproved: true }),
    ];
    for (const one of all) assert.equal(await memories.add(one, 9), 'stored');
    const store = { memories } as Store;
    assert.deepEqual(await memories.find('a'), all[0]);
    assert.deepEqual(await idsOf(store, `person ${ada}`), ['a']);
    assert.deepEqual(await idsOf(store, `person ${ada}`, 'team'), ['d', 'a']);
    assert.deepEqual(await idsOf(store, 'chat telegram:-100', 'team'), ['d', 'c']);
    assert.deepEqual(await idsOf(store, 'chat telegram:-1'), []);
    assert.deepEqual(
      (await memories.by(ada)).map(({ id }) => id),
      ['a', 'c', 'd'],
    );
    assert.deepEqual(await memories.counts(), { person: 2, chat: 1, team: 1 });
    assert.equal(await memories.remove('a'), true);
    assert.equal(await memories.remove('a'), false);
    assert.equal(await memories.find('a'), undefined);
  });

  storeTest('K1 a known memory stays as it is, and a holder has a most', async ({ memories }) => {
    const add = (...ids: readonly string[]) => Promise.all(ids.map((id) => memories.add(memory(id), 2)));
    assert.deepEqual(await add('a'), ['stored']);
    assert.deepEqual((await add('b', 'c', 'd')).toSorted(), ['full', 'full', 'stored']);
    assert.equal(await memories.add(memory('a', { text: 'other' }), 2), 'stored', 'repeated after a crash');
    assert.equal((await memories.by(ada)).length, 2);
    assert.equal((await memories.find('a'))?.text, 'note a');
    assert.equal(await memories.add(memory('e', { author: 'telegram:7' }), 2), 'stored');
  });

  storeTest('K4 the newest and the most used come first', async (store) => {
    for (const [index, id] of ['old', 'newer', 'newest'].entries())
      await store.memories.add(memory(id, { at: index * day }), 9);
    assert.deepEqual(await idsOf(store, `person ${ada}`), ['newest', 'newer', 'old']);
    for (let use = 0; use < 3; use++) await store.memories.used(['old']);
    assert.deepEqual(await idsOf(store, `person ${ada}`), ['old', 'newest', 'newer']);
  });

  storeTest('K6 a memory ends when nobody saw it for the whole retention', async (store) => {
    const now = 400 * day;
    const add = (id: string, author: string) =>
      store.memories.add(memory(id, { author, at: now - 200 * day }), 9);
    await add('seen', ada);
    await add('unseen', 'telegram:7');
    await store.memories.seen([`person ${ada}`], now - day);
    await store.prune(now, 90 * day);
    assert.deepEqual(await idsOf(store, `person ${ada}`, 'person telegram:7'), ['seen']);
  });

  storeTest('K5 what was said is found by its words, newest first, and only by its holder', async (store) => {
    const secret = line('the launch code is ZYX-17', { holder: `person ${ada}`, conversation: direct });
    const said = [
      line('Der Zürich-Flug geht um 9'),
      line('our launch is in May'),
      line('明天我们去北京开会', { at: 7 }),
      { ...line('launches are on Fridays'), author: undefined, name: 'Skillet', source: undefined },
      secret,
    ];
    for (const one of said) await store.commit({ searchable: [one] });
    assert.deepEqual(await found(store, 'LAUNCH'), ['launches are on Fridays', 'our launch is in May']);
    assert.deepEqual(await found(store, 'zurich'), ['Der Zürich-Flug geht um 9']);
    assert.deepEqual(await found(store, '北京'), ['明天我们去北京开会']);
    assert.deepEqual(await found(store, 'zyx'), []);
    assert.deepEqual(await found(store, '", * ) OR \' : & | !'), []);
    const [whole] = await store.memories.search(`person ${ada}`, 'launch code', 10);
    const { transcript: _, ...rest } = secret;
    assert.deepEqual(whole, rest);
    assert.deepEqual(await found(store, 'launch', `person telegram:421`), []);
  });

  storeTest('K5 lines with all words come before lines with some', async (store) => {
    const lines = ['green tea is in the kitchen', 'tea', 'green', 'something else'];
    await store.commit({ searchable: lines.map((text) => line(text)) });
    assert.deepEqual(await found(store, 'tea green'), [lines[0], 'green', 'tea']);
    assert.deepEqual(await found(store, 'tea green', undefined, 1), [lines[0]]);
  });

  storeTest('K5 Q8 an entry and its line in the index are one step', async (store) => {
    const broken = { ...line('never there'), conversation: undefined as unknown as typeof group };
    const cyclic = {
      ...broken,
      get at(): number {
        throw new Error('cut off');
      },
    };
    const entry = { kind: 'notice', text: 'x', at: 1 } as const;
    const step = { entries: [{ transcript: 'telegram:-100', entry }], searchable: [cyclic] };
    await assert.rejects(store.commit(step), /cut off/);
    assert.equal((await store.transcripts.read('telegram:-100')).entries.length, 0);
    assert.deepEqual(await found(store, 'never'), []);
  });

  storeTest('K5 Q12 a line ends with its conversation, and stays over /new', async (store) => {
    const key = conversationKey(group);
    const entry = { kind: 'notice', text: 'x', at: 10 * day } as const;
    await store.commit({ entries: [{ transcript: key, entry }], searchable: [line('remember the milk')] });
    await store.transcripts.archive(key);
    assert.deepEqual(await found(store, 'milk'), ['remember the milk']);
    await store.prune(100 * day, 91 * day);
    assert.deepEqual(await found(store, 'milk'), ['remember the milk']);
    await store.prune(102 * day, 91 * day);
    assert.deepEqual(await found(store, 'milk'), []);
  });

  storeTest(
    'K6 forget removes a person’s memories, those about them, and what is found of them',
    async (store) => {
      const bob = 'telegram:421';
      const add = (id: string, change: Partial<Memory>) => store.memories.add(memory(id, change), 9);
      await add('own', {});
      await add('own-chat', { scope: 'chat', chat: 'telegram:-100', isPrivate: false });
      await add('about', { author: bob, text: `ask ${ada} about it`, chat: bob });
      await add('other', { author: bob, text: 'ask telegram:4200 about it', chat: bob });
      const theirs = [line('hers'), { ...line('answer for hers'), author: undefined, name: 'Skillet' }];
      const alone = line('alone hers', { holder: `person ${ada}`, transcript: ada, conversation: direct });
      await store.commit({ searchable: [...theirs, alone, line('not hers', { asker: bob, author: bob })] });
      assert.equal((await store.forget(ada)).memories, 3);
      assert.deepEqual(await idsOf(store, `person ${bob}`, 'chat telegram:-100'), ['other']);
      assert.deepEqual(await found(store, 'hers'), ['not hers']);
      assert.deepEqual(await found(store, 'hers', `person ${ada}`), []);
    },
  );

  storeTest(
    'K5 Q12 what recall quoted of a forgotten person is gone from the turns of others',
    async (store) => {
      const room = conversationKey(group);
      const quote = (text: string, id: string) =>
        `<quote from="x" id="${id}" note="this chat">\n${text}\n</quote>`;
      const content = `What was found.\n${quote('her words', ada)}\n${quote('his words', 'telegram:421')}`;
      const bob = { kind: 'user', item: 'i', sender: 'telegram:421', content: 'hi', at: 1 } as const;
      const result = { kind: 'tool_result', toolUseId: 't', content, isError: false, at: 1 } as const;
      for (const entry of [bob, result]) await store.commit({ entries: [{ transcript: room, entry }] });
      await store.forget(ada);
      const left = JSON.stringify((await store.transcripts.read(room)).entries);
      assert.doesNotMatch(left, /her words|telegram:42"/);
      assert.match(left, /his words/);
    },
  );
}
