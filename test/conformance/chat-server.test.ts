import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import type { ChatCompletionTool } from 'openai/resources/chat/completions';
import type { AnswerBlock } from '../servers/messages/answer.ts';
import { serveAimock } from '../support/aimock.ts';
import { startChatServer } from '../servers/chat/chat-server.ts';
import type { Like } from '../servers/chat/check-chat.ts';

const tools: ChatCompletionTool[] = [
  { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } },
];

/** What the official client of OpenAI makes of a server's stream. */
async function ask(baseURL: string): Promise<object> {
  const client = new OpenAI({ baseURL, apiKey: 'k', maxRetries: 0, logLevel: 'off' });
  const stream = client.chat.completions.stream({
    model: 'gpt-5.4',
    messages: [{ role: 'user', content: 'Hello' }],
    tools,
    stream_options: { include_usage: true },
  });
  const { choices, usage, object } = await stream.finalChatCompletion();
  const [choice] = choices;
  const calls = (choice?.message.tool_calls ?? []).map((call) =>
    call.type === 'function' ? [call.function.name, call.function.arguments, typeof call.id] : [],
  );
  const { content, role } = choice?.message ?? {};
  // An empty text and none are the same with calls.
  return {
    object,
    role,
    content: content || null,
    calls,
    reason: choice?.finish_reason,
    usage: typeof usage,
  };
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
for (const [what, content] of answers)
  test(`H9 M17 a second, independent server gives OpenAI's own client the same for ${what}`, async (t) => {
    const server = await startChatServer({ script: [{ content }] });
    t.after(() => server.close());
    const [ours, theirs] = [await ask(server.url), await ask(`${await serveAimock(t, content)}/v1`)];
    assert.deepEqual(ours, theirs);
  });

test("H9 M17 OpenAI's own client reads the refusals as errors with their codes", async (t) => {
  const server = await startChatServer({ script: [], apiKey: 'sk-right', models: ['gpt-5.4'] });
  t.after(() => server.close());
  const failure = async (apiKey: string, model: string): Promise<unknown> => {
    const client = new OpenAI({ baseURL: server.url, apiKey, maxRetries: 0, logLevel: 'off' });
    const asked = client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }] });
    return asked.catch((error: unknown) => error);
  };
  const wrongKey = await failure('sk-wrong', 'gpt-5.4');
  assert.ok(wrongKey instanceof OpenAI.AuthenticationError && wrongKey.code === 'invalid_api_key');
  const wrongModel = await failure('sk-right', 'gpt-9');
  assert.ok(wrongModel instanceof OpenAI.NotFoundError && wrongModel.code === 'model_not_found');
});

const user = { role: 'user', content: 'Hello' };
const call = (id: string, name = 'look') => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
});
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: '4' });
const named = (name: string) => [
  { type: 'function', function: { name, parameters: { type: 'object', properties: {} } } },
];
const refused: readonly (readonly [string, object, RegExp, Like?])[] = [
  ['no messages', { messages: [] }, /Invalid 'messages': empty array/],
  [
    'a tool message without a call',
    { messages: [user, result('a')] },
    /must be a response to a preceeding message with 'tool_calls'/,
  ],
  ['a call without its result', { messages: [user, call('a'), user] }, /did not have response messages: a/],
  ['a call at the end', { messages: [user, call('a')] }, /did not have response messages: a/],
  [
    'a result twice',
    { messages: [user, call('a'), result('a'), result('a')] },
    /must be a response to a preceeding/,
  ],
  [
    'a long id',
    { messages: [user, call('x'.repeat(41)), result('x'.repeat(41))] },
    /maximum length 40, but got a string with length 41/,
  ],
  ['a name with a dot', { messages: [user, call('a', 'f.look'), result('a')] }, /does not match pattern/],
  ['an empty content', { messages: [{ role: 'user', content: [] }] }, /empty array/],
  [
    'an assistant without words',
    { messages: [user, { role: 'assistant', content: null }] },
    /expected a string, got null/,
  ],
  [
    'a field of other servers',
    { messages: [user, { role: 'assistant', content: 'x', reasoning_content: 'y' }, user] },
    /Unknown parameter: 'messages\[1\]\.reasoning_content'/,
  ],
  ['an unknown parameter', { messages: [user], top_k: 3 }, /Unknown parameter: 'top_k'/],
  ['no tools in a list', { messages: [user], tools: [] }, /Invalid 'tools': empty array/],
  ['a tool with a long name', { messages: [user], tools: named('n'.repeat(65)) }, /maximum length 64/],
  ['a tool with a bad name', { messages: [user], tools: named('a b') }, /does not match pattern/],
  [
    'a schema without properties',
    {
      messages: [user],
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
    },
    /object schema missing properties/,
  ],
  [
    'a choice without tools',
    { messages: [user], tool_choice: 'none' },
    /only allowed when 'tools' are specified/,
  ],
  [
    'options of a stream without one',
    { messages: [user], stream_options: { include_usage: true } },
    /only allowed when 'stream' is enabled/,
  ],
  [
    'max_tokens at a reasoning model',
    { messages: [user], max_tokens: 5 },
    /Use 'max_completion_tokens' instead/,
  ],
  [
    'temperature at a reasoning model',
    { messages: [user], temperature: 0 },
    /Only the default \(1\) value is supported/,
  ],
  [
    'tools and an effort',
    { messages: [user], tools, reasoning_effort: 'low' },
    /Please use \/v1\/responses instead/,
  ],
  [
    'tools without an effort',
    { model: 'gpt-5.6-sol', messages: [user], tools },
    /set reasoning_effort to 'none'/,
  ],
  [
    'a picture that is none',
    {
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
      ],
    },
    /unsupported image/,
  ],
  [
    'a file that is no PDF',
    {
      messages: [
        {
          role: 'user',
          content: [{ type: 'file', file: { filename: 'a', file_data: 'data:text/plain;base64,AAAA' } }],
        },
      ],
    },
    /application\/pdf/,
  ],
  [
    'an id of ten characters at Mistral',
    { messages: [user, call('abcdefghij'), result('abcdefghij')] },
    /with a length of 9/,
    'mistral',
  ],
  [
    'a user after a tool at Mistral',
    { messages: [user, call('abcdefghi'), result('abcdefghi'), user] },
    /Unexpected role 'user' after role 'tool'/,
    'mistral',
  ],
  [
    'an answer without thinking at DeepSeek',
    { messages: [user, call('a'), result('a')] },
    /`reasoning_content` in the thinking mode/,
    'deepseek',
  ],
  [
    'a call without a signature at Google',
    { messages: [user, call('a'), result('a')] },
    /missing a thought_signature/,
    'gemini',
  ],
];
for (const [what, body, message, like = 'openai'] of refused)
  test(`H9 M17 the strict server refuses ${what}`, async (t) => {
    const server = await startChatServer({ script: ['never'], like });
    t.after(() => server.close());
    const response = await fetch(`${server.url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer k' },
      body: JSON.stringify({ model: 'gpt-5.4', ...body }),
    });
    const { error } = (await response.json()) as Readonly<{
      error: Readonly<{ message: string; type: string }>;
    }>;
    assert.match(error.message, message);
    assert.equal(response.status, 400);
    assert.equal(server.requests.length, 0);
  });
