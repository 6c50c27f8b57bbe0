import Anthropic from '@anthropic-ai/sdk';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnswerBlock } from '../servers/messages/answer.ts';
import { serveAimock } from '../support/aimock.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';

const tools: Anthropic.Tool[] = [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }];

async function ask(baseURL: string): Promise<object> {
  const client = new Anthropic({
    baseURL,
    apiKey: 'k',
    maxRetries: 0,
    openTelemetry: false,
    logLevel: 'off',
  });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello' }];
  const stream = client.messages.stream({
    model: 'claude-sonnet-5-5',
    max_tokens: 100,
    messages,
    tools,
    thinking: { type: 'between_tools' },
  });
  const kinds = new Set<string>();
  stream.on('streamEvent', (event) => kinds.add(event.type));
  const { content, stop_reason, role, type, usage } = await stream.finalMessage();
  const blocks = content.map((block) => {
    if (block.type === 'text') return { type: 'text', text: block.text };
    assert.equal(block.type, 'tool_use');
    return { type: block.type, name: block.name, input: block.input, id: typeof block.id };
  });
  return { blocks, stop_reason, role, type, kinds: [...kinds], usage: typeof usage.output_tokens };
}

const answers: readonly (readonly [string, readonly AnswerBlock[]])[] = [
  ['a text', [{ type: 'text', text: 'Hi there, how are you?' }]],
  ['a tool call', [{ type: 'tool_use', name: 'look', input: { place: 'Köln', deep: { list: [1, 2] } } }]],
  [
    'a text and two tool calls',
    [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', name: 'look', input: { at: 1 } },
      { type: 'tool_use', name: 'look', input: { at: 2 } },
    ],
  ],
];
for (const [what, content] of answers) {
  test(`H9 a second, independent server gives the SDK the same for ${what}`, async (t) => {
    const server = await startMessagesServer({ script: [{ content }] });
    t.after(() => server.close());
    const [ours, theirs] = [await ask(server.url), await ask(await serveAimock(t, content))];
    assert.deepEqual(ours, theirs);
  });
}
