import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { listsId, meansId } from '../../src/access/chat-migrations.ts';
import { chatIdOf, conversationKey } from '../../src/core/conversation.ts';

const numRuns = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);
const part = fc.string({ minLength: 1, maxLength: 8 }).filter((text) => !text.includes(':'));

test('A4 an entry means the id that it spells, bare or qualified, and no other', () => {
  const property = fc.property(part, part, part, part, (channel, id, otherChannel, otherId) => {
    assert.ok(meansId(id, `${channel}:${id}`));
    assert.ok(meansId(`${channel}:${id}`, `${channel}:${id}`));
    assert.equal(meansId(otherId, `${channel}:${id}`), otherId === id);
    const same = otherId === id && otherChannel === channel;
    assert.equal(meansId(`${otherChannel}:${otherId}`, `${channel}:${id}`), same);
  });
  fc.assert(property, { numRuns });
});

test('A9 ids are compared exactly: no letter case, no sign, no prefix', () => {
  const entries = ['slack:c1', 'telegram:100123', '-10012', '@ana', 'telegram', ''];
  for (const id of ['slack:C1', 'telegram:-100123', 'telegram:ana']) assert.ok(!listsId(entries, id), id);
  assert.ok(!listsId([], 'telegram:1'));
  assert.ok(!meansId('slack:C1', 'terminal:slack:C1'), 'a qualified entry is never read as a bare one');
});

test('A4 a thread has the id of its chat and a queue of its own', () => {
  const chat = { channel: 'telegram', chat: '-100123' };
  assert.equal(chatIdOf({ ...chat, thread: '7' }), chatIdOf(chat));
  assert.notEqual(conversationKey({ ...chat, thread: '7' }), conversationKey(chat));
});

test('A4 Q3 only one conversation has its key, whatever its ids are made of, and nothing beside it looks like one', () => {
  const id = fc.string({
    unit: fc.constantFrom('a', ':', '/', '~', '%', '#', '@'),
    minLength: 1,
    maxLength: 4,
  });
  const conversation = fc.record({ channel: id, chat: id, thread: fc.option(id, { nil: undefined }) });
  const keyOf = ({ thread, ...room }: { channel: string; chat: string; thread: string | undefined }) =>
    conversationKey({ ...room, ...(thread === undefined ? {} : { thread }) });
  const property = fc.property(conversation, conversation, (one, other) => {
    const same = one.channel === other.channel && one.chat === other.chat && one.thread === other.thread;
    assert.equal(keyOf(one) === keyOf(other), same);
    assert.doesNotMatch(keyOf(one), /[~#@]/, 'these stand behind a key');
  });
  fc.assert(property, {
    numRuns: numRuns * 10,
    examples: [
      [
        { channel: 'a', chat: 'b/c', thread: undefined },
        { channel: 'a', chat: 'b', thread: 'c' },
      ],
      [
        { channel: 'a:b', chat: 'c', thread: undefined },
        { channel: 'a', chat: 'b:c', thread: undefined },
      ],
    ],
  });
});

test('A4 the same chat number on two channels is two chats', () => {
  assert.equal(chatIdOf({ channel: 'telegram', chat: '1' }), 'telegram:1');
  assert.ok(!listsId(['telegram:1'], chatIdOf({ channel: 'slack', chat: '1' })));
});
