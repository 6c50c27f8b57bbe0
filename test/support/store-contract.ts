import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Conversation } from '../../src/core/conversation.ts';
import type { Entry } from '../../src/core/entry.ts';
import type { Message } from '../../src/core/message.ts';
import type { Store } from '../../src/store/store.ts';
import { pendingRequestsContract } from './pending-requests-contract.ts';
import { backlogContract } from './backlog-contract.ts';
import { capabilityRecordsContract } from './capability-records-contract.ts';
import { fairContract } from './fair-contract.ts';
import { feedbackContract } from './feedback-contract.ts';
import { forgetContract } from './forget-contract.ts';
import { holdsContract } from './holds-contract.ts';
import { inboxContract } from './inbox-contract.ts';
import { keyedContract } from './keyed-contract.ts';
import { makeMessage } from './make-message.ts';
import { memoriesContract } from './memories-contract.ts';
import { outboxContract } from './outbox-contract.ts';
import { privacyContract } from './privacy-contract.ts';
import { retentionContract } from './retention-contract.ts';
import { routinesContract } from './routines-contract.ts';
import { serveContract } from './serve-contract.ts';
import { usesContract } from './uses-contract.ts';

/** Opens a store with nothing in it. */
export type OpenStore = () => Promise<Store>;

/** A test over a fresh store that is closed at its end. */
export type StoreTest = (name: string, run: (store: Store) => Promise<void>) => void;

const hour = 60 * 60_000;
const day = 24 * hour;

/** Every promise of the store contract that does not depend on the database behind it (Q8). */
export function storeContract(open: OpenStore): void {
  const storeTest: StoreTest = (name, run) => {
    test(name, async (context) => {
      const store = await open();
      context.after(() => store.close());
      await run(store);
    });
  };
  inboxContract(storeTest);
  outboxContract(storeTest);
  keyedContract(storeTest);
  serveContract(storeTest);
  fairContract(storeTest);
  pendingRequestsContract(storeTest);
  backlogContract(storeTest);
  usesContract(storeTest);
  capabilityRecordsContract(storeTest);
  routinesContract(storeTest);
  transcriptContract(storeTest);
  privacyContract(storeTest);
  keepingContract(storeTest);
  retentionContract(storeTest);
  forgetContract(storeTest);
  holdsContract(storeTest);
  memoriesContract(storeTest);
  feedbackContract(storeTest);
}

const room: Conversation = { channel: 'slack', chat: 'C1', thread: '17.2' };
const notice = (text: string): Entry => ({ kind: 'notice', text, at: 1 });
const answer: Entry = {
  kind: 'assistant',
  content: [
    { type: 'text', text: 'Ja 🦉', citations: null },
    {
      type: 'tool_use',
      id: 'toolu_1',
      name: 'use_skill',
      input: { skill: 'dice', deep: [1, null] },
      caller: { type: 'direct' },
    },
  ],
  stopReason: 'tool_use',
  tokens: { input: 3, output: 4, cacheRead: 0, cacheWrite: 1 },
  model: 'claude-haiku-5-5',
  at: 12,
};

function transcriptContract(storeTest: StoreTest): void {
  storeTest('M7 a transcript gives its entries as they were added, and only its own', async (store) => {
    const entries: Entry[] = [
      { kind: 'user', item: 'k', sender: 'telegram:42', content: 'hi', at: 10 },
      {
        kind: 'user',
        content: [{ type: 'text', text: 'and', cache_control: { type: 'ephemeral' } }],
        at: 11,
      },
      answer,
      { kind: 'tool_started', toolUseId: 'toolu_1', at: 13 },
      { kind: 'tool_result', toolUseId: 'toolu_1', content: '7', isError: false, at: 14 },
      notice('cut'),
    ];
    for (const entry of entries) {
      await store.commit({
        entries: [
          { transcript: 'a', entry },
          { transcript: 'run:a', entry: notice('other') },
        ],
      });
    }
    const { entries: stored, damaged } = await store.transcripts.read('a');
    assert.equal(damaged, 0);
    assert.deepEqual(
      stored.map(({ entry }) => entry),
      entries,
    );
    const seqs = stored.map(({ seq }) => seq);
    assert.deepEqual(
      seqs,
      [...new Set(seqs)].sort((a, b) => a - b),
    );
    assert.equal((await store.transcripts.read('run:a')).entries.length, entries.length);
    assert.deepEqual(await store.transcripts.read('b'), { entries: [], damaged: 0 });
  });

  storeTest('M9 a transcript is read from its newest summary on, what that keeps included', async (store) => {
    const summary = (text: string, kept: number, more: object = {}): Entry => ({
      kind: 'summary',
      text,
      kept,
      ...more,
      tokens: { input: 9, output: 3, cacheRead: 0, cacheWrite: 0 },
      at: 20,
    });
    const read = async (): Promise<readonly Entry[]> => {
      const { entries, damaged } = await store.transcripts.read('a');
      assert.equal(damaged, 0);
      return entries.map(({ entry }) => entry);
    };
    const add = (...entries: readonly Entry[]) =>
      store.commit({
        entries: entries.flatMap((entry) => [
          { transcript: 'a', entry },
          { transcript: 'b', entry: notice('of another') },
        ]),
      });
    const said = ['1', '2', '3', '4'].map(notice);
    await add(...said);
    const first = summary('first', 2);
    await add(first);
    assert.deepEqual(await read(), [...said.slice(2), first]);
    const more = [notice('5'), answer, notice('6')];
    await add(...more);
    assert.deepEqual(await read(), [...said.slice(2), first, ...more]);

    const second = summary('second', 5, { folded: 3, senders: ['telegram:1', 'telegram:2'] });
    await add(second);
    assert.deepEqual(await read(), [...said.slice(3), first, ...more, second], 'a kept summary is an entry');
    const third = summary('third', 0);
    await add(third, notice('7'));
    assert.deepEqual(await read(), [third, notice('7')]);
    const all = summary('more than there is', 1_000);
    await add(all);
    assert.equal((await read()).length, 12, 'nothing is removed by a summary');
    assert.equal((await store.transcripts.read('b')).entries.length, 12);
  });

  storeTest('Q8 a step is written whole or not at all', async (store) => {
    await store.inbox.accept(makeMessage({ id: 'k' }), { now: 1 });
    const broken = { ...answer, content: [{ type: 'text', text: 1n }] } as unknown as Entry;
    const step = {
      entries: [
        { transcript: 'a', entry: notice('first') },
        { transcript: 'a', entry: broken },
      ],
      outbox: [{ key: 'k#0', conversation: room, part: { markdown: 'x' } }],
      done: 'k',
    };
    await assert.rejects(store.commit(step));
    assert.deepEqual(await store.transcripts.read('a'), { entries: [], damaged: 0 });
    assert.equal(await store.outbox.pending(room), 0);
    assert.equal((await store.inbox.list('waiting')).length, 1);
    await store.commit({ ...step, entries: [{ transcript: 'a', entry: answer }] });
    assert.equal((await store.transcripts.read('a')).entries.length, 1);
    assert.equal(await store.outbox.pending(room), 1);
    assert.equal((await store.inbox.list('waiting')).length, 0);
  });

  storeTest(
    'M8 a conversation starts afresh after it was archived, and the old entries stay',
    async (store) => {
      const key = 'slack:C1/17.2';
      const ids: string[] = [];
      for (const text of ['one', 'two', 'three']) {
        const id = await store.transcripts.current(key);
        assert.deepEqual((await store.transcripts.read(id)).entries, []);
        await store.commit({ entries: [{ transcript: id, entry: notice(text) }] });
        ids.push(id);
        await store.transcripts.archive(key);
      }
      assert.equal(ids[0], key);
      assert.equal(new Set(ids).size, 3);
      for (const [index, text] of ['one', 'two', 'three'].entries()) {
        const { entries } = await store.transcripts.read(ids[index] ?? '');
        assert.deepEqual(
          entries.map(({ entry }) => entry),
          [notice(text)],
        );
      }
      assert.equal(await store.transcripts.current('slack:C2'), 'slack:C2');
    },
  );

  storeTest('M8 whether the bot ever answered in a conversation outlives its archiving', async (store) => {
    const key = 'slack:C1/17.2';
    await store.commit({ entries: [{ transcript: key, entry: notice('x') }] });
    await store.commit({ entries: [{ transcript: 'slack:C1', entry: answer }] });
    assert.equal(await store.transcripts.answered(key), false);
    await store.transcripts.archive(key);
    await store.commit({ entries: [{ transcript: await store.transcripts.current(key), entry: answer }] });
    assert.equal(await store.transcripts.answered(key), true);
    await store.transcripts.archive(key);
    assert.equal(await store.transcripts.answered(key), true);
  });

  storeTest(
    'M10 overheard messages come back newest last, of one conversation, as far as asked',
    async (store) => {
      const heard = (n: number, chat = 'G'): Message =>
        makeMessage({
          id: `telegram:${chat}:${n}`,
          conversation: { channel: 'telegram', chat },
          text: `m${n}`,
        });
      for (const n of [1, 2, 3, 4, 5]) await store.groupContext.add(heard(n), n * 10);
      await store.groupContext.add(heard(3), 60);
      await store.groupContext.add(heard(6, 'H'), 60);
      const texts = async (limit: number, since: number) =>
        (await store.groupContext.recent('telegram:G', limit, since)).map(({ text }) => text);
      assert.deepEqual(await texts(20, 0), ['m1', 'm2', 'm3', 'm4', 'm5']);
      assert.deepEqual(await texts(2, 0), ['m4', 'm5']);
      assert.deepEqual(await texts(20, 40), ['m4', 'm5']);
      assert.deepEqual(await store.groupContext.recent('telegram:H', 20, 0), [heard(6, 'H')]);
      await store.groupContext.remove('telegram:G:4');
      await store.groupContext.remove('telegram:G:9');
      assert.deepEqual(await texts(2, 0), ['m3', 'm5'], 'what was taken back is gone');
    },
  );
}

function keepingContract(storeTest: StoreTest): void {
  storeTest(
    'Q2 a key is remembered for 7 days after its item was finished, and then let go',
    async (store) => {
      const message = makeMessage({ id: 'k' });
      await store.inbox.accept(message, { now: 1 });
      await store.prune(Date.now() + 30 * day, 365 * day);
      assert.equal((await store.inbox.list('waiting')).length, 1, 'a waiting item is never pruned');
      await store.commit({ done: 'k' });
      await store.prune(Date.now() + 7 * day - hour, 365 * day);
      assert.equal(await store.inbox.accept(message, { now: 2 }), 'duplicate');
      await store.prune(Date.now() + 7 * day + hour, 365 * day);
      assert.equal(await store.inbox.accept(message, { now: 3 }), 'stored');
    },
  );

  storeTest('M10 overheard messages are kept for 24 hours', async (store) => {
    const now = Date.now();
    await store.groupContext.add(makeMessage({ id: 'old' }), now - day - hour);
    await store.groupContext.add(makeMessage({ id: 'new' }), now - day + hour);
    await store.prune(now, 365 * day);
    const kept = await store.groupContext.recent('telegram:42', 20, 0);
    assert.deepEqual(
      kept.map(({ id }) => id),
      ['new'],
    );
  });

  storeTest('Q6 a sent part is kept for 7 days, one that waits for good', async (store) => {
    const outbox = ['a', 'b'].map((key) => ({ key, conversation: room, part: { markdown: key } }));
    await store.commit({ outbox });
    await store.outbox.sent('a', { id: '1' });
    await store.prune(Date.now() + 7 * day - hour, 365 * day);
    await store.commit({ outbox });
    assert.equal(await store.outbox.pending(room), 1, 'the key was forgotten too early');
    await store.prune(Date.now() + 7 * day + hour, 365 * day);
    assert.equal(await store.outbox.pending(room), 1);
    await store.commit({ outbox });
    assert.equal(await store.outbox.pending(room), 2);
  });

  storeTest('Q2 pruning removes more rows than fit one batch and leaves the rest', async (store) => {
    const message = (n: number) => makeMessage({ id: `o${n}` });
    for (let n = 0; n < 1_100; n++) await store.groupContext.add(message(n), n < 1_050 ? 0 : 2 * day);
    await store.prune(2 * day + hour, 365 * day);
    assert.equal((await store.groupContext.recent('telegram:42', 2_000, 0)).length, 50);
  });
}
