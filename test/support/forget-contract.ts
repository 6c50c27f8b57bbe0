import assert from 'node:assert/strict';
import { heardWords, userContent } from '../../src/runs/user-content.ts';
import { conversationKey } from '../../src/core/conversation.ts';
import type { Entry } from '../../src/core/entry.ts';
import type { Message } from '../../src/core/message.ts';
import { nothingReceived } from '../../src/core/received.ts';
import { forgottenSummary } from '../../src/store/forget-entries.ts';
import type { Store } from '../../src/store/store.ts';
import { makeMessage } from './make-message.ts';
import type { StoreTest } from './store-contract.ts';

const ada = { id: 'telegram:42', name: 'Ada', kind: 'person' } as const;
/** Begins like Ada's id. */
const bob = { id: 'telegram:421', name: 'Bob', kind: 'person' } as const;
const group = { channel: 'telegram', chat: '-100' } as const;
const room = conversationKey(group);
const day = 86_400_000;
const tokens = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };

const answer = (text: string): Entry => ({
  kind: 'assistant',
  content: [{ type: 'text', text, citations: null }],
  stopReason: 'end_turn',
  tokens,
  model: 'm',
  at: 1,
});
const summary = (text: string, kept: number, senders: readonly string[]): Entry => ({
  kind: 'summary',
  text,
  kept,
  senders,
  tokens,
  at: 1,
});

function inGroup(sender: Message['sender'], n: number, text: string, more: Partial<Message> = {}): Message {
  return makeMessage({
    id: `telegram:-100:${n}`,
    conversation: group,
    chatType: 'group',
    sender,
    text,
    ...more,
  });
}

function said(message: Message, background: readonly Message[] = []): Extract<Entry, { kind: 'user' }> {
  const content = userContent(message, { background });
  return { kind: 'user', item: message.id, sender: message.sender.id, content, at: 1 };
}

async function write(store: Store, transcript: string, ...entries: readonly Entry[]): Promise<void> {
  for (const entry of entries) await store.commit({ entries: [{ transcript, entry }] });
}

/** The transcript as a model could be shown it. */
async function read(store: Store, transcript: string): Promise<readonly Entry[]> {
  return (await store.transcripts.read(transcript)).entries.map(({ entry }) => entry);
}

/** What every store promises of a person who is forgotten (Q12). */
export function forgetContract(storeTest: StoreTest): void {
  storeTest(
    'Q12 of a person who is forgotten no direct message is left, archived ones and runs included, of others everything',
    async (store) => {
      const key = 'telegram:42';
      const direct = said(makeMessage({ text: 'my secret' }));
      await write(store, key, direct, answer('noted'));
      await write(store, `${key}#run:a`, { ...direct, item: 'x' }, answer('of a run'));
      await write(store, `${key}#run:b`, answer('of a run that names nobody'));
      await store.transcripts.archive(key);
      const second = await store.transcripts.current(key);
      await write(store, second, direct, answer('again'), { kind: 'notice', text: 'cut', at: 1 });
      const other = said(makeMessage({ sender: bob, conversation: { channel: 'telegram', chat: '421' } }));
      await write(store, 'telegram:421', other, answer('hi Bob'));
      const { entries } = await store.forget(ada.id);
      assert.equal(entries, 8);
      for (const transcript of [key, `${key}#run:a`, `${key}#run:b`, second])
        assert.deepEqual(await read(store, transcript), []);
      assert.equal(await store.transcripts.current(key), key, 'nothing says that they were ever here');
      assert.equal(await store.transcripts.answered(key), false);
      assert.deepEqual(await read(store, 'telegram:421'), [other, answer('hi Bob')]);
    },
  );

  storeTest(
    'Q12 in a group the turns of the person go, with their runs, and those of others stay',
    async (store) => {
      const bobs = [said(inGroup(bob, 1, 'what is the time')), answer('Ten')];
      const again = [said(inGroup(bob, 4, 'thanks')), answer('Welcome')];
      const skill: Entry = {
        kind: 'user',
        item: 'telegram:-100:2#skill',
        content: 'result of a skill',
        at: 1,
      };
      const started: Entry = { kind: 'tool_started', toolUseId: 't', at: 1 };
      await write(
        store,
        room,
        ...bobs,
        said(inGroup(ada, 2, 'mine')),
        skill,
        started,
        answer('yours'),
        ...again,
      );
      await write(store, `${room}#run:a`, said(inGroup(ada, 2, 'run for Ada')), answer('done'));
      await write(store, `${room}#run:b`, ...bobs);
      // As plain as in a direct message.
      const alone: Entry = { kind: 'user', sender: ada.id, content: 'run for Ada alone', at: 1 };
      await write(store, `${room}#run:c`, alone, answer('done'));
      await store.forget(ada.id);
      assert.deepEqual(await read(store, room), [...bobs, ...again]);
      assert.deepEqual(await read(store, `${room}#run:a`), []);
      assert.deepEqual(await read(store, `${room}#run:b`), bobs);
    },
  );

  storeTest(
    'Q12 what others quoted of the person is replaced in their turns, and nothing else',
    async (store) => {
      const heard = [inGroup(ada, 1, 'I live in Ghent'), inGroup(bob, 2, 'I live in Kiel')];
      const adas = said(inGroup(ada, 3, 'My number is 5551234'));
      const told = answer('**Your number** is 5551234.');
      const quotes = [
        said(inGroup(bob, 4, 'who lives where?'), heard),
        said(
          inGroup(bob, 5, 'really?', {
            replyTo: { name: 'Ada', text: 'She said Oslo', own: false, sender: ada.id },
          }),
        ),
        said(inGroup(bob, 6, 'hm', { replyTo: { name: 'you', text: 'Your number is 5551234.', own: true } })),
        said(
          inGroup(bob, 7, 'older', { replyTo: { name: 'Ada', text: 'My number is 5551234', own: false } }),
        ),
        said(
          inGroup(bob, 8, 'fine', {
            replyTo: { name: 'Bob', text: 'Kiel it is', own: false, sender: bob.id },
          }),
        ),
        {
          ...said(inGroup(bob, 10, '/gist this')),
          context: heardWords(heard, nothingReceived).join('\n'),
        },
        // As short as many say it.
        said(inGroup(bob, 9, 'so', { replyTo: { name: 'Cyd', text: 'is 555', own: false } })),
      ];
      await write(store, room, adas, told, ...quotes);
      await store.forget(ada.id);
      const left = await read(store, room);
      const texts = JSON.stringify(left);
      assert.equal(left.length, quotes.length);
      for (const gone of ['Ghent', 'Oslo', '5551234', 'Ada', `${ada.id}\\"`])
        assert.ok(!texts.includes(gone), gone);
      for (const stays of ['Kiel', 'who lives where?', 'really?', 'Kiel it is', 'is 555', 'Bob'])
        assert.ok(texts.includes(stays));
      assert.match(texts, /\[removed\]/);
      assert.deepEqual(left.at(-1), quotes.at(-1));
    },
  );

  storeTest(
    'Q12 a summary of their words gives way to a note, and keeps the same entries of others',
    async (store) => {
      const bobs = [1, 2, 3].map((n) => said(inGroup(bob, n, `Bob ${n}`)));
      const adas = [said(inGroup(ada, 9, 'Ada kept')), answer('for Ada')];
      const [old, kept, last] = bobs as [Entry, Entry, Entry];
      await write(store, room, said(inGroup(ada, 8, 'Ada old')), old, kept, ...adas, last);
      await write(store, room, summary('Ada and Bob spoke', 4, [ada.id, bob.id]), answer('after'));
      await store.forget(ada.id);
      assert.deepEqual(await read(store, room), [
        kept,
        last,
        { ...summary(forgottenSummary, 2, [bob.id]) },
        answer('after'),
      ]);
    },
  );

  storeTest('Q12 a summary of others stays as it is, but for the entries it counts', async (store) => {
    const [old, kept] = [said(inGroup(bob, 1, 'Bob old')), said(inGroup(bob, 2, 'Bob kept'))];
    const only = summary('Bob spoke', 2, [bob.id]);
    await write(store, room, old, kept, said(inGroup(ada, 3, 'Ada')), only);
    await store.forget(ada.id);
    assert.deepEqual(await read(store, room), [kept, { ...only, kept: 1 }]);
  });

  storeTest(
    'Q12 messages of the person that wait, were set aside, answered or overheard go, with what is to be sent for them',
    async (store) => {
      const accept = (message: Message) => store.inbox.accept(message, { now: 1 });
      const others = inGroup(bob, 5, 'stay', {
        replyTo: { name: 'Ada', text: 'Ada waits', own: false, sender: ada.id },
        shared: [
          { name: 'Ada', text: 'Ada said', own: false, sender: ada.id },
          { name: 'Bob', text: 'Bob said', own: false, sender: bob.id },
        ],
      });
      const bobs = { channel: 'telegram', chat: '421' };
      const all = [
        makeMessage({ id: 'telegram:42:1' }),
        inGroup(ada, 1, 'waits'),
        inGroup(ada, 2, 'dead'),
        inGroup(ada, 3, 'done'),
        others,
        makeMessage({ id: 'telegram:421:1', conversation: bobs, sender: bob }),
      ];
      for (const message of all) await accept(message);
      await store.inbox.fail('telegram:-100:2', 'poison', undefined);
      const done = said(inGroup(ada, 3, 'done'));
      const row = (key: string, conversation: Message['conversation'], markdown = key) => ({
        key,
        conversation,
        part: { markdown },
      });
      const direct = { channel: 'telegram', chat: '42' };
      const owner = { channel: 'telegram', chat: '7' };
      await store.commit({
        entries: [{ transcript: room, entry: done }],
        outbox: [
          row('telegram:-100:3#0', group),
          row('telegram:-100:5#0', group),
          row('welcome:X', direct),
          row('topic:X', { ...direct, thread: '7' }),
          row('welcome:Y', bobs),
          row('pair:X#0', owner, `Ada, id \`${ada.id}\`, asks`),
          row('pair:Y#0', owner, `Bob, id \`${bob.id}\`, asks`),
        ],
        done: 'telegram:-100:3',
      });
      for (const key of ['pair:X#0', 'pair:Y#0']) await store.outbox.sent(key, { id: key });
      await store.outbox.show('telegram:-100:1#0', { id: '9' });
      await store.groupContext.add(inGroup(ada, 10, 'heard'), 5);
      await store.groupContext.add(inGroup(bob, 11, 'heard Bob'), 6);
      const { messages, outbox } = await store.forget(ada.id);
      assert.deepEqual([messages, outbox], [5, 4]);
      const [only, ...more] = await store.inbox.list('waiting');
      assert.deepEqual(
        [only?.key, more.map(({ key }) => key), await store.inbox.list('dead')],
        ['telegram:-100:5', ['telegram:421:1'], []],
      );
      assert.equal(only?.message?.text, 'stay');
      assert.equal(only?.message?.replyTo?.text, '[removed]');
      assert.deepEqual(
        only?.message?.shared?.map(({ text }) => text),
        ['[removed]', 'Bob said'],
      );
      assert.deepEqual(await store.groupContext.recent(room, 9, 0), [inGroup(bob, 11, 'heard Bob')]);
      const left = [group, direct, { ...direct, thread: '7' }, bobs].map(store.outbox.pending);
      assert.deepEqual(await Promise.all(left), [1, 0, 0, 1]);
      assert.equal(await store.outbox.shown('telegram:-100:1#0'), undefined);
      assert.equal(await accept(inGroup(ada, 1, 'later')), 'stored', 'they begin as anybody else');
    },
  );

  storeTest('Q12 what a run of somebody else was told of the person is replaced', async (store) => {
    const heard = (who: Message['sender'], text: string): string =>
      `<message from="${who.name}" id="${who.id}">\n${text}\n</message>`;
    const context = (text: string): string => `${text}\n${heard(bob, 'Bob waits')}`;
    const task: Message['task'] = {
      ...{
        kind: 'run',
        id: 'r',
        skill: 'gist',
        tool: 'use_skill',
        by: 'person',
        parent: room,
        toolUseId: 'c',
      },
      input: { skill: 'gist', message: 'the above', context: context(heard(ada, 'Ada waits')) },
    };
    await store.inbox.accept(inGroup(bob, 5, '', { task }), { now: 1 });
    await store.forget(ada.id);
    const [item] = await store.inbox.list('waiting');
    const left = item?.message?.task;
    assert.deepEqual(
      left?.kind === 'run' ? left.input['context'] : '',
      context('<message from="[removed]">\n[removed]\n</message>'),
    );
  });

  storeTest('Q12 however much there is of a person, all of it goes', async (store) => {
    const conversation = { channel: 'telegram', chat: '42' };
    const parts = Array.from({ length: 1_100 }, (_, n) => ({
      key: `${ada.id}:${n}#0`,
      conversation,
      part: { markdown: String(n) },
    }));
    await store.commit({ outbox: parts });
    assert.equal((await store.forget(ada.id)).outbox, parts.length);
    assert.equal(await store.outbox.pending(conversation), 0);
  });

  storeTest(
    'Q12 usage, questions and values kept under the person’s id go, those of others stay',
    async (store) => {
      const use = (sender: string, day: string) => ({
        day,
        sender,
        conversation: room,
        skill: '',
        model: 'm',
        tokens,
      });
      await store.commit({
        usage: [use(ada.id, '2026-01-01'), use(ada.id, '2026-01-02'), use(bob.id, '2026-01-01')],
        runs: [ada.id, bob.id].map((sender) => ({
          ...{ ...use(sender, '2026-01-01'), id: sender, steps: 1, failed: false, at: 1 },
        })),
      });
      const ask = (id: string, requester: string) =>
        store.pendingRequests.add({
          id,
          kind: 'approval',
          conversation: group,
          requester,
          transcript: room,
          toolUseId: id,
          payload: {},
          askedAt: 1,
          expiresAt: Date.now() + 100_000,
        });
      await ask('a', ada.id);
      await ask('b', bob.id);
      await ask('c', bob.id);
      await store.pendingRequests.answer('c', { by: ada.id, value: 'yes', at: 2 });
      const seen = store.keyed('commands');
      await seen.set('telegram:42:7', true);
      await seen.set('telegram:421:7', true);
      const [waiting, words] = [store.keyed('waiting-parts'), store.keyed('shown-words')];
      for (const one of [ada, bob]) {
        await waiting.set(one.id, ['telegram:-100:7#0']);
        await words.set(`${one.id}:7#0`, 'half an answer');
      }
      await store.keyed('moved').set('to:telegram:42', 'x');
      const { usage, asks } = await store.forget(ada.id);
      assert.deepEqual([usage, asks], [3, 2]);
      assert.deepEqual(
        (await store.stats('2026-01-01')).map(({ sender, runs }) => [sender, runs]),
        [[bob.id, 1]],
      );
      assert.deepEqual(
        [(await store.pendingRequests.find('a'))?.id, (await store.pendingRequests.find('b'))?.id],
        [undefined, 'b'],
      );
      assert.equal(await store.pendingRequests.find('c'), undefined);
      assert.deepEqual(
        [await seen.get('telegram:42:7'), await seen.get('telegram:421:7')],
        [undefined, true],
      );
      assert.deepEqual(
        [await waiting.has(ada.id), await waiting.has(bob.id), await words.has(`${ada.id}:7#0`)],
        [false, true, false],
      );
      assert.equal(await store.keyed('moved').get('to:telegram:42'), 'x', 'where a chat is now is nobody’s');
    },
  );

  storeTest(
    'Q12 a room that is told to be theirs goes with all that is in it, unless others spoke there',
    async (store) => {
      const slack = { id: 'slack:U1', name: 'Ada', kind: 'person' } as const;
      const direct = { channel: 'slack', chat: 'D1' } as const;
      const like = { channel: 'slack', chat: 'D12' } as const;
      for (const conversation of [direct, { ...direct, thread: '1.2' }, like])
        await store.commit({
          outbox: [{ key: conversationKey(conversation), conversation, part: { markdown: 'hello' } }],
        });
      await write(store, 'slack:D1', answer('to nobody by name'));
      await write(store, room, said(inGroup(bob, 1, 'hi')), said(inGroup({ ...bob, id: slack.id }, 2, 'hi')));
      const { places, outbox } = await store.forget(slack.id, ['slack:D1', room]);
      assert.deepEqual(places, ['slack:D1', 'slack:U1']);
      assert.equal(outbox, 2);
      assert.deepEqual(await read(store, 'slack:D1'), []);
      assert.equal((await read(store, room)).length, 1, 'the words of others');
    },
  );

  storeTest(
    'Q12 forgetting somebody whom nothing tells of changes nothing, and goes on beside other work',
    async (store) => {
      const transcript = room;
      const bobs = said(inGroup(bob, 1, 'telegram:42 is not my id'));
      await write(store, transcript, bobs);
      for (let n = 0; n < 30; n++) {
        const entries = Array.from({ length: 50 }, () => ({ transcript, entry: answer(String(n)) }));
        await store.commit({ entries });
      }
      const forgetting = store.forget(ada.id);
      await store.inbox.accept(inGroup(bob, 3, 'meanwhile'), { now: 1 });
      const none = {
        messages: 0,
        entries: 0,
        outbox: 0,
        usage: 0,
        memories: 0,
        asks: 0,
        routines: 0,
        feedback: 0,
        files: [],
      };
      // Their own direct message goes in any case: files may be left of it.
      assert.deepEqual(await forgetting, { ...none, places: ['telegram:42'] });
      assert.equal((await read(store, transcript)).length, 1_501);
      assert.equal((await store.inbox.list('waiting')).length, 1);
    },
  );

  storeTest(
    'Q12 what is said in a direct message while it is removed is removed by retention at the latest',
    async (store) => {
      const key = 'telegram:42';
      const before = Array.from({ length: 3_000 }, () => ({ transcript: key, entry: answer('old') }));
      await store.commit({ entries: before });
      const forgetting = store.forget(ada.id);
      const state = { forgotten: false };
      void forgetting.then(() => (state.forgotten = true));
      const meanwhile: string[] = [];
      while (!state.forgotten) {
        meanwhile.push(`${key}#run:${meanwhile.length}`);
        await write(store, meanwhile.at(-1) ?? '', answer('new'));
      }
      await forgetting;
      await store.prune(day, day / 2);
      const left = await Promise.all([key, ...meanwhile].map((id) => read(store, id)));
      assert.deepEqual(left.flat(), []);
    },
  );
}
