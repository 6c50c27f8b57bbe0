import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { conversationKey } from '../../src/core/conversation.ts';
import type { Message } from '../../src/core/message.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeMessage } from '../support/make-message.ts';

const messages = 250;
const threads = 20;
const runs = Math.max(1, Math.round(Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200) / 100));

type Delivery = Readonly<{ message: Message; answerAfter: boolean }>;

/** One mention as Slack delivers it: two events in any order (SL4), one of them sent again. */
function events(n: number): readonly Message[] {
  const message = makeMessage({
    id: `slack:T1:C${n % threads}:17.${n}`,
    conversation: { channel: 'slack', chat: `C${n % threads}` },
    chatType: 'group',
    text: `m${n}`,
  });
  const mention: Message = { ...message, chatType: 'unknown' };
  return [message, mention, n % 2 === 0 ? message : mention];
}

const deliveries: fc.Arbitrary<readonly Delivery[]> = fc
  .tuple(
    fc.shuffledSubarray(Array.from({ length: messages }, (_, n) => events(n)).flat(), {
      minLength: messages * 3,
    }),
    fc.infiniteStream(fc.integer({ min: 0, max: 3 })),
  )
  .map(([shuffled, dice]) => shuffled.map((message) => ({ message, answerAfter: dice.next().value === 0 })));

/** Answers the oldest item of a queue. */
async function answerOne(store: Store, queue: string): Promise<Message | undefined> {
  const item = await store.inbox.take(queue, 1);
  if (item) await store.commit({ done: item.key });
  return item?.message;
}

test(`Q2 ${messages} Slack mentions whose twins come in any order are answered once each`, async () => {
  const property = fc.asyncProperty(deliveries, async (shuffled) => {
    const store = await openStore('sqlite::memory:');
    const answered: Message[] = [];
    const seen = new Set<string>();
    const lacking = new Set<string>();
    /** One for each item, in the order in which they came. */
    const waiting: string[] = [];
    const answer = async (): Promise<boolean> => {
      const queue = waiting.shift();
      if (queue === undefined) return false;
      const message = await answerOne(store, queue);
      assert.ok(message !== undefined, `nothing waits in ${queue}`);
      answered.push(message);
      if (message.chatType === 'unknown' && seen.has(message.id)) lacking.add(message.id);
      return true;
    };
    const outcomes = { stored: 0, merged: 0, duplicate: 0, queue_full: 0 };
    for (const { message, answerAfter } of shuffled) {
      const outcome = await store.inbox.accept(message, { now: 1 });
      outcomes[outcome] += 1;
      if (outcome === 'stored') waiting.push(conversationKey(message.conversation));
      if (message.chatType === 'group') seen.add(message.id);
      if (answerAfter) await answer();
    }
    while (await answer());
    assert.deepEqual(await store.inbox.list('waiting'), []);
    assert.deepEqual([outcomes.stored, outcomes.queue_full], [messages, 0]);
    assert.equal(answered.length, messages);
    assert.equal(new Set(answered.map(({ id }) => id)).size, messages);
    assert.deepEqual([...lacking], [], 'an item lacks the chat type that its twin had brought');
    await store.close();
  });
  await fc.assert(property, { numRuns: runs });
});

test('Q2 twins that come at the same instant make one item', async () => {
  const store = await openStore('sqlite::memory:');
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, (_, n) => events(n)).flatMap((twins) =>
      twins.map((message) => store.inbox.accept(message, { now: 1 })),
    ),
  );
  assert.equal(outcomes.filter((outcome) => outcome === 'stored').length, 100);
  const waiting = await store.inbox.list('waiting');
  assert.equal(waiting.length, 100);
  assert.ok(waiting.every(({ message }) => message?.chatType === 'group'));
  await store.close();
});
