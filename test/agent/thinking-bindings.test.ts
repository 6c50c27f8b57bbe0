import assert from 'node:assert/strict';
import type Anthropic from '@anthropic-ai/sdk';
import { test } from 'node:test';
import { boundThinking, type Account } from '../../src/agent/models/anthropic-request.ts';
import type { ModelRequest } from '../../src/core/model.ts';

const account: Account = {
  baseUrl: 'https://one.example',
  apiKey: 'ours',
  name: 'claude-sonnet-5-5',
  bindsThinking: true,
};
const tool = (name: string): Anthropic.Tool => ({ name, input_schema: { type: 'object' } });
const asked: ModelRequest = {
  system: [{ type: 'text', text: 'Be brief.' }],
  tools: [tool('look'), tool('touch')],
  messages: [{ role: 'user', content: 'Look.' }],
  audience: 'ann',
};
const thinking = { type: 'thinking', thinking: 'hm', signature: 's' } as const;
const redacted = { type: 'redacted_thinking', data: 'x' } as const;
const use = { type: 'tool_use', id: 'c', name: 'look', input: {} } as const;

/** The kinds of blocks that go back to the model, where the thinking was bound to `asked` by `account`. */
function sent(
  more: Partial<ModelRequest>,
  by: Partial<Account> = {},
  answer: readonly object[] = [thinking, redacted, use],
  bound: Account = account,
): readonly string[] {
  const made = boundThinking(asked, bound).bindingOf(answer as readonly Anthropic.ContentBlock[]);
  const content = answer.map((block) =>
    'thinking' in block || 'data' in block ? { ...block, binding: made } : block,
  );
  const { messages = asked.messages, ...rest } = more;
  const later = [
    ...messages,
    { role: 'assistant', content },
    { role: 'user', content: 'And?' },
  ] as unknown as ModelRequest['messages'];
  const went = boundThinking({ ...asked, ...rest, messages: later }, { ...bound, ...by }).messages;
  const blocks = went[messages.length]?.content ?? '';
  assert.ok(typeof blocks !== 'string');
  assert.ok(!JSON.stringify(blocks).includes('binding'), 'the platform does not know bindings');
  return blocks.map(({ type }) => type);
}

const all = ['thinking', 'redacted_thinking', 'tool_use'];

test('M13 thinking goes back only to who made it, behind all that stood before it', () => {
  assert.deepEqual(sent({}), all);
  assert.deepEqual(sent({ audience: 'ben' }), all, 'the tools are the same, and they are what counts');
  const none = ['tool_use'];
  assert.deepEqual(sent({}, { baseUrl: 'https://two.example' }), none);
  assert.deepEqual(sent({}, { apiKey: 'theirs' }), none);
  assert.deepEqual(sent({}, { name: 'claude-opus-5-5' }), none);
  for (const api of ['openai', 'bedrock', 'vertex'] as const)
    assert.deepEqual(sent({}, { api }), none, 'nothing crosses kinds (M17)');
  assert.deepEqual(sent({}, { api: 'anthropic' }), all);
  assert.deepEqual(sent({ system: [{ type: 'text', text: 'Be long.' }] }), none);
  assert.deepEqual(sent({ tools: [tool('look')] }), none);
  assert.deepEqual(sent({ tools: [tool('touch'), tool('look')] }), none, 'in another order');
  assert.deepEqual(sent({ messages: [{ role: 'user', content: 'Look!' }] }), none);
  assert.deepEqual(sent({ messages: [{ role: 'assistant', content: 'Look.' }] }), none);
  assert.deepEqual(sent({ messages: [...asked.messages, ...asked.messages] }), none);
});

test('M13 what a model thinks that binds nothing is for the same account, system and people', () => {
  const loose = { ...account, bindsThinking: false };
  const answer = [thinking, use];
  const goes = (more: Partial<ModelRequest>, by: Partial<Account> = {}): boolean =>
    sent(more, by, answer, loose).includes('thinking');
  assert.ok(goes({}));
  assert.ok(goes({ tools: [tool('look')] }), 'its tools may shrink');
  assert.ok(!goes({ audience: 'ben' }));
  assert.ok(!goes({ system: [{ type: 'text', text: 'Be long.' }] }));
  assert.ok(!goes({}, { name: 'claude-haiku-4-5' }));
  assert.ok(!goes({}, { apiKey: 'theirs' }));
});

test('M13 thinking at the end of an answer never goes back, and binds nothing', () => {
  const { bindingOf } = boundThinking(asked, account);
  const content = (...blocks: readonly object[]) => blocks as readonly Anthropic.ContentBlock[];
  assert.equal(bindingOf(content(use, thinking)), undefined);
  assert.equal(
    bindingOf(content(thinking, use, { ...thinking, thinking: 'more' })),
    bindingOf(content(thinking, use)),
  );
});

test('M13 redacted thinking alone is thinking', () => {
  assert.deepEqual(sent({}, {}, [redacted, use]), ['redacted_thinking', 'tool_use']);
  assert.deepEqual(sent({}, { apiKey: 'theirs' }, [redacted, use]), ['tool_use']);
});
