import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ModelError } from '../../src/core/errors.ts';
import type { Model, ModelAnswer, ModelRequest } from '../../src/core/model.ts';
import type { AnswerBlock, ServerStep } from '../servers/messages/answer.ts';
import type { Loose } from '../servers/chat/chat-chunks.ts';
import { startChatServer, type ChatServer } from '../servers/chat/chat-server.ts';
import { httpModelAt, type ModelAt } from '../support/model-at.ts';
import { quietLog } from '../support/quiet-log.ts';

const { signal } = new AbortController();
const tool = { name: 'dice', input_schema: { type: 'object' as const } };
const hello: ModelRequest = { system: [], messages: [{ role: 'user', content: 'Roll.' }], tools: [tool] };
const roll = (sides: number): AnswerBlock => ({ type: 'tool_use', name: 'dice', input: { sides } });

type Options = Omit<Parameters<typeof startChatServer>[0], 'script'>;

async function serve(
  t: TestContext,
  script: readonly ServerStep[],
  options: Options = {},
  more: Partial<ModelAt> = {},
): Promise<Readonly<{ server: ChatServer; model: Model }>> {
  const server = await startChatServer({ script, like: 'other', ...options });
  t.after(() => server.close());
  const clock = { now: () => 0, sleep: async () => undefined };
  const place = { baseUrl: server.url, apiKey: 'k' };
  const settings = {
    alias: 'default',
    model: 'qwen3:8b',
    api: 'openai',
    maxTokens: 1_000,
    endpoint: place,
  } as const;
  return {
    server,
    model: httpModelAt({ ...settings, ...more }, { log: quietLog(), clock, random: () => 0 }),
  };
}

const inputs = ({ content }: ModelAnswer): readonly unknown[] =>
  content.flatMap((block) => (block.type === 'tool_use' ? [block.input] : []));
const words = ({ content }: ModelAnswer): string =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('|');

/** The request after an answer with calls, all of which said "4". */
function after(
  request: ModelRequest,
  { content, binding }: ModelAnswer,
  more: readonly object[] = [],
): ModelRequest {
  const blocks = content.map((block) => (block.type.endsWith('thinking') ? { ...block, binding } : block));
  const results = content.flatMap((block) =>
    block.type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: block.id, content: '4' }] : [],
  );
  return {
    ...request,
    messages: [
      ...request.messages,
      { role: 'assistant', content: blocks },
      { role: 'user', content: [...results, ...more] },
    ] as ModelRequest['messages'],
  };
}

const looseServers: Readonly<Record<string, Loose>> = {
  'that counts nothing': { noUsage: true },
  'without [DONE]': { noDone: true },
  'without both': { noUsage: true, noDone: true },
  'that says stop with calls': { saysStop: true },
  'with arguments as objects': { objects: true, saysStop: true },
  'without indexes': { noIndexes: true },
  'without indexes and ids': { noIndexes: true, noIds: true },
  'with the index 0 for each call': { zeroIndexes: true },
  'with the index 0 for each call and no ids': { zeroIndexes: true, noIds: true },
  'without ids': { noIds: true },
  'with whole calls': { wholeCalls: true },
  'that does not stream': { noStream: true },
  'that does not stream, with objects and no counts': { noStream: true, objects: true, noUsage: true },
};
for (const [what, loose] of Object.entries(looseServers))
  for (const chunkBytes of [undefined, 5])
    test(`M17 M19 a server ${what} is understood${chunkBytes === undefined ? '' : ', byte by byte'}`, async (t) => {
      const wire = chunkBytes === undefined ? {} : { chunkBytes };
      const script = [
        { content: [{ type: 'text' as const, text: 'I roll.' }, roll(6), roll(20)], wire },
        'done',
      ];
      const { model, server } = await serve(t, script, { loose, apiKey: 'none' });
      const answer = await model.complete(hello, signal);
      assert.deepEqual(inputs(answer), [{ sides: 6 }, { sides: 20 }]);
      assert.equal(answer.stopReason, 'tool_use');
      assert.equal(words(answer), 'I roll.');
      assert.ok(answer.tokens.input > 0 && answer.tokens.output > 0);
      assert.equal(words(await model.complete(hello, signal)), 'done');
      assert.equal(server.requests.length, 2);
    });

for (const field of ['reasoning_content', 'reasoning', 'tags'] as const)
  test(`M17 M13 thinking as ${field} is no words, and only its own server sees it again`, async (t) => {
    const script: readonly ServerStep[] = [
      {
        content: [
          { type: 'thinking', thinking: 'Six sides, I think.' },
          { type: 'text', text: 'I roll.' },
          roll(6),
        ],
      },
      'done',
    ];
    const { model, server } = await serve(t, script, { loose: { thinking: field } });
    let shown = '';
    const answer = await model.complete(hello, signal, (text) => (shown += text));
    assert.equal(words(answer), 'I roll.');
    assert.equal(shown.trim(), 'I roll.');
    const next = after(hello, answer);
    await model.complete(next, signal);
    const sent = JSON.stringify(server.bodies[1]);
    if (field === 'tags') return assert.doesNotMatch(sent, /Six sides/);
    assert.match(sent, new RegExp(`"${field}":"Six sides, I think."`));
    const other = await serve(t, ['fine'], {}, { model: 'llama4' });
    await other.model.complete(next, signal);
    assert.doesNotMatch(JSON.stringify(other.server.bodies), /Six sides/);
  });

test('M17 what Google signs goes back with its call, and calls of others get the documented word', async (t) => {
  const script: readonly ServerStep[] = [{ content: [roll(6), roll(20)] }, 'done', 'fine'];
  const { model, server } = await serve(
    t,
    script,
    { like: 'gemini', loose: { signs: true } },
    { model: 'gemini-3.1-pro' },
  );
  const answer = await model.complete(hello, signal);
  await model.complete(after(hello, answer), signal);
  const signed = server.bodies[1]?.messages.flatMap((one) =>
    'tool_calls' in one ? (one.tool_calls ?? []) : [],
  );
  assert.deepEqual(
    signed?.map(({ extra_content }) => extra_content),
    [0, 1].map((nth) => ({ google: { thought_signature: `sig-dice-${nth}` } })),
  );
  const foreign = { ...answer, content: answer.content.filter(({ type }) => type === 'tool_use') };
  assert.equal(words(await model.complete(after(hello, foreign), signal)), 'fine');
});

test('M17 DeepSeek gets reasoning_content with every answer, if only an empty one', async (t) => {
  const script: readonly ServerStep[] = [
    'fine',
    { content: [{ type: 'thinking', thinking: 'hm' }, roll(6)] },
    'done',
  ];
  const { model, server } = await serve(
    t,
    script,
    { like: 'deepseek', loose: { thinking: 'reasoning_content' } },
    { model: 'deepseek-v4-pro' },
  );
  const foreign = {
    content: [{ type: 'tool_use', id: 'toolu_1', name: 'dice', input: {} }],
  } as unknown as ModelAnswer;
  await model.complete(after(hello, foreign), signal);
  const answer = await model.complete(hello, signal);
  await model.complete(after(hello, answer), signal);
  assert.match(JSON.stringify(server.bodies[2]), /"reasoning_content":"hm"/);
  assert.deepEqual(server.refused, []);
});

test('M17 Mistral gets ids of nine characters, and no user directly after a tool', async (t) => {
  const { model, server } = await serve(
    t,
    [{ content: [roll(6)] }, 'done', 'fine'],
    { like: 'mistral' },
    { model: 'mistral-large-latest' },
  );
  const answer = await model.complete(hello, signal);
  const next = after(hello, answer, [{ type: 'text', text: 'Quick!' }]);
  assert.equal(words(await model.complete(next, signal)), 'done');
  assert.ok(answer.tokens.input > 0);
  assert.deepEqual(
    server.refused.map(({ status }) => status),
    [422],
    'the parameter that it does not know is sent once',
  );
});

test('M17 a parameter that a server refuses by name is left out from then on', async (t) => {
  for (const [unknown, more] of [
    [['stream_options'], {}],
    [['reasoning_effort'], { effort: 'low' }],
    [['max_tokens'], {}],
    [['stream_options', 'reasoning_effort'], { effort: 'high' }],
  ] as const) {
    const { model, server } = await serve(t, ['one', 'two'], { unknown }, more);
    assert.equal(words(await model.complete(hello, signal)), 'one');
    assert.equal(server.refused.length, unknown.length);
    assert.equal(words(await model.complete(hello, signal)), 'two');
    assert.equal(server.refused.length, unknown.length, unknown.join());
    assert.equal(server.bodies[1]?.max_tokens ?? server.bodies[1]?.max_completion_tokens, 1_000);
  }
});

test('M17 a server that can not forbid calls is shown no tools where none may be called', async (t) => {
  const { model, server } = await serve(t, ['one', 'two'], { unknown: ['tool_choice'] });
  await model.complete({ ...hello, toolChoice: 'none' }, signal);
  assert.equal(server.bodies[0]?.tools, undefined);
  await model.complete(hello, signal);
  assert.equal(server.bodies[1]?.tools?.length, 1);
});

for (const [name, effort, sent] of [
  ['gpt-5.6-terra', undefined, 'none'],
  ['gpt-5.6-luna', 'medium', 'none'],
  ['gpt-5.4', 'medium', undefined],
  ['gpt-4.1', 'low', undefined],
] as const)
  test(`M17 ${name} with effort ${effort ?? 'unset'} can call tools`, async (t) => {
    const more = { model: name, ...(effort === undefined ? {} : { effort }) };
    const { model, server } = await serve(t, [{ content: [roll(6)] }, 'again'], { like: 'openai' }, more);
    assert.deepEqual(inputs(await model.complete(hello, signal)), [{ sides: 6 }]);
    await model.complete(hello, signal);
    assert.deepEqual(
      server.bodies.map(({ reasoning_effort }) => reasoning_effort),
      [sent, sent],
    );
    assert.equal(server.refused.length, 1, 'it is refused once');
  });

test('M17 a tool with a long name is called by a short one, and comes back by its own', async (t) => {
  const name = `mcp_${'a_very_long_server_name_'.repeat(3)}tool`;
  const long = {
    ...hello,
    tools: [
      { ...tool, name },
      { ...tool, name: `${name}2` },
    ],
  };
  const server = await startChatServer({
    script: ({ tools }) => ({ content: [{ type: 'tool_use', name: tools?.[1]?.name ?? '', input: {} }] }),
  });
  t.after(() => server.close());
  const { model } = await serve(t, [], {}, { endpoint: { baseUrl: server.url, apiKey: 'k' } });
  const answer = await model.complete(long, signal);
  assert.deepEqual(
    answer.content.map((block) => block.type === 'tool_use' && block.name),
    [`${name}2`],
  );
  await model.complete(after(long, answer), signal);
  assert.deepEqual(server.refused, []);
});

test('M17 causes that are told in other ways are the same causes', async (t) => {
  const cases: readonly (readonly [ServerStep, Partial<ModelError>, string | undefined])[] = [
    [
      { status: 429, type: 'insufficient_quota', message: 'You exceeded your current quota.' },
      { passing: false },
      'account',
    ],
    [{ status: 402, message: 'Insufficient Balance' }, { passing: false }, 'account'],
    [
      { status: 401, type: 'invalid_api_key', message: 'Incorrect API key provided.' },
      { passing: false },
      'key',
    ],
    [{ status: 400, message: 'API key not valid. Please pass a valid API key.' }, { passing: false }, 'key'],
    [
      { status: 404, type: 'model_not_found', message: 'The model `x` does not exist.' },
      { passing: false },
      'endpoint',
    ],
    [{ status: 400, message: 'x/y is not a valid model ID' }, { passing: false }, 'endpoint'],
    [
      { status: 400, type: 'context_length_exceeded', message: 'So many tokens!' },
      { tooLong: true },
      undefined,
    ],
    [
      { status: 500, message: 'the request exceeds the available context size' },
      { tooLong: true },
      undefined,
    ],
    [
      { status: 404, message: 'No endpoints found that support image input' },
      { aboutFiles: true },
      'endpoint',
    ],
    [{ status: 422, message: 'unknown variant `file`, expected `text`' }, { aboutFiles: true }, undefined],
  ];
  for (const [step, expected, look] of cases) {
    const { model, server } = await serve(t, [step, 'never reached']);
    await assert.rejects(model.complete(hello, signal), (error) => {
      assert.ok(error instanceof ModelError);
      const { passing, tooLong, aboutFiles, forOperator } = error;
      assert.partialDeepStrictEqual({ passing, tooLong, aboutFiles }, expected, error.message);
      assert.equal(forOperator?.look, look, error.message);
      return true;
    });
    assert.equal(server.requests.length, 1, JSON.stringify(step));
  }
});

test('M17 a request that the rules of a provider forbid is a refusal, as if the model had said it', async (t) => {
  const filter = { status: 400, type: 'content_filter', message: 'The response was filtered.' };
  const { model, server } = await serve(t, [filter, 'never reached']);
  const answer = await model.complete(hello, signal);
  assert.deepEqual([answer.stopReason, answer.content], ['refusal', []]);
  assert.equal(server.requests.length, 1);
});

test('M17 faults with status 200 are what they say', async (t) => {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const half = chunk({ content: 'half an' });
  for (const raw of [
    `${half}data: {"error":{"message":"Rate limited","code":429}}\n\n`,
    `${half}data: {"object":"error","message":"gone","type":"InternalServerError","code":500}\n\n`,
    `${half}${chunk({}, 'insufficient_system_resource')}`,
    half,
    `${half}data: {"choi`,
  ]) {
    const { model, server } = await serve(t, [{ raw }, 'whole']);
    assert.equal(words(await model.complete(hello, signal)), 'whole', raw);
    assert.equal(server.requests.length, 2);
  }
  const fault = '{"object":"error","message":"no","type":"BadRequestError","code":401}';
  const refused = await serve(t, [{ raw: `data: ${fault}\n\n` }, 'never reached']);
  await assert.rejects(
    refused.model.complete(hello, signal),
    (error) => error instanceof ModelError && !error.passing && error.forOperator?.look === 'key',
  );
  const whole = '{"choices":[{"index":0,"message":{"role":"assistant","content":"no reason"}}]}';
  const bare = await serve(t, [{ raw: whole, type: 'application/json' }, 'never reached']);
  assert.equal(words(await bare.model.complete(hello, signal)), 'no reason');
  for (const raw of [
    '<html>Sign in</html>',
    'hello',
    '{"content":[{"type":"text","text":"of another API"}]}',
  ]) {
    const { model } = await serve(t, [{ raw, type: 'text/html' }, 'never reached']);
    await assert.rejects(model.complete(hello, signal), (error) => {
      assert.ok(error instanceof ModelError && !error.passing);
      assert.match(error.forOperator?.said ?? '', /not in the Chat Completions API/);
      assert.equal(error.forOperator?.look, 'endpoint');
      return true;
    });
  }
});

test('M17 a server without a key is asked without one, and a password in its address is no secret in a URL', async (t) => {
  const { model, server } = await serve(t, ['fine'], { apiKey: 'none' });
  const open = httpModelAt(
    {
      alias: 'default',
      api: 'openai',
      model: 'm',
      maxTokens: 10,
      endpoint: { baseUrl: server.url.replace('http://', 'http://me:a-password@') },
    },
    { log: quietLog(), clock: { now: () => 0, sleep: async () => undefined } },
  );
  await open.complete(hello, signal);
  const basic = `Basic ${Buffer.from('me:a-password').toString('base64')}`;
  assert.equal(server.requests[0]?.headers.authorization, basic);
  await assert.rejects(open.complete(hello, signal));
  assert.ok(model);
});
