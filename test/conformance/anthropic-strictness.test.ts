import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startMessagesServer, type MessagesServer } from '../servers/messages/messages-server.ts';

type Body = Record<string, unknown>;
const good: Body = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] };
const bearer = { authorization: 'Bearer the-key', 'anthropic-version': '2026-10-21' };
const older = { 'x-api-key': 'the-key', 'anthropic-version': '2023-06-01' };
const user = (...content: readonly object[]) => ({ role: 'user', content });
const assistant = (...content: readonly object[]) => ({ role: 'assistant', content });
const text = (value: string, more: object = {}) => ({ type: 'text', text: value, ...more });
const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} });
const result = (tool_use_id: string) => ({ type: 'tool_result', tool_use_id, content: 'x' });
const mark = { cache_control: { type: 'ephemeral' } };
const tool = (name: string) => ({ name, input_schema: { type: 'object' } });

async function serve(t: TestContext, more: Partial<Parameters<typeof startMessagesServer>[0]> = {}) {
  const server = await startMessagesServer({ script: () => 'Hi', apiKey: 'the-key', ...more });
  t.after(() => server.close());
  return server;
}

async function post(server: MessagesServer, body: unknown, headers: Record<string, string> = bearer) {
  const response = await fetch(`${server.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Body, headers: response.headers };
}

test('H9 both ways to send the key are taken, a wrong or missing one is not', async (t) => {
  const server = await serve(t);
  assert.equal((await post(server, good, bearer)).status, 200);
  assert.equal((await post(server, good, older)).status, 200);
  for (const headers of [
    { ...bearer, authorization: 'Bearer other' },
    { 'anthropic-version': '2026-10-21' },
  ]) {
    const refused = await post(server, good, headers);
    assert.equal(refused.status, 401);
    assert.deepEqual(refused.body, {
      type: 'error',
      error: { type: 'authentication_error', message: 'invalid x-api-key' },
      request_id: refused.headers.get('request-id'),
    });
  }
});

test('H9 temperature, top_p and top_k are gone from version 2026-10-21, and were there before', async (t) => {
  const server = await serve(t);
  for (const [name, value] of Object.entries({ temperature: 0.5, top_p: 0.9, top_k: 5 })) {
    const refused = await post(server, { ...good, [name]: value }, bearer);
    assert.equal(refused.status, 400);
    assert.deepEqual(refused.body['error'], {
      type: 'invalid_request_error',
      message: `${name}: Extra inputs are not permitted`,
    });
    assert.equal((await post(server, { ...good, [name]: value }, older)).status, 200);
  }
  assert.equal((await post(server, good, { authorization: 'Bearer the-key' })).status, 400);
  assert.equal((await post(server, good, { ...bearer, 'anthropic-version': '2031-01-01' })).status, 400);
});

const refusals: readonly (readonly [string, unknown, RegExp])[] = [
  ['no JSON', '{"model":', /not valid JSON/],
  ['no max_tokens', { ...good, max_tokens: undefined }, /^max_tokens: Field required$/],
  ['no model', { ...good, model: undefined }, /^model: Field required$/],
  ['an unknown field', { ...good, sampling: 1 }, /^sampling: Extra inputs are not permitted$/],
  [
    'an unknown field of a block',
    { ...good, messages: [user(text('x', { colour: 'red' }))] },
    /colour: Extra inputs are not permitted$/,
  ],
  ['no messages', { ...good, messages: [] }, /at least one message is required/],
  [
    'an answer first',
    { ...good, messages: [assistant(text('x'))] },
    /first message must use the "user" role/,
  ],
  [
    'two roles in a row',
    { ...good, messages: [user(text('x')), user(text('y'))] },
    /multiple "user" roles in a row/,
  ],
  [
    'an answer last',
    { ...good, messages: [user(text('x')), assistant(text('y'))] },
    /does not support assistant message prefill/,
  ],
  [
    'an empty text',
    { ...good, messages: [user(text(''))] },
    /^messages: text content blocks must be non-empty$/,
  ],
  ['a blank text', { ...good, messages: [user(text(' \n'))] }, /must contain non-whitespace text/],
  ['an empty string', { ...good, messages: [{ role: 'user', content: '' }] }, /must be non-empty/],
  [
    'an empty system block',
    { ...good, system: [text('')] },
    /^system: text content blocks must be non-empty$/,
  ],
  [
    'a call without a result',
    { ...good, messages: [user(text('x')), assistant(use('a')), user(text('y'))] },
    /^messages\.1: `tool_use` ids were found without `tool_result` blocks immediately after: a\./,
  ],
  [
    'one of two results missing',
    { ...good, messages: [user(text('x')), assistant(use('a'), use('b')), user(result('a'))] },
    /immediately after: b\./,
  ],
  [
    'a result without a call',
    { ...good, messages: [user(result('a'))] },
    /unexpected `tool_use_id` found in `tool_result` blocks: a\./,
  ],
  [
    'a result after text',
    { ...good, messages: [user(text('x')), assistant(use('a')), user(text('y'), result('a'))] },
    /must come first/,
  ],
  [
    'a call id used twice',
    {
      ...good,
      messages: [
        user(text('x')),
        assistant(use('a')),
        user(result('a')),
        assistant(use('a')),
        user(result('a')),
      ],
    },
    /ids must be unique/,
  ],
  [
    'a tool name with a dot',
    { ...good, tools: [tool('a.b')] },
    /^tools\.0\.name: String should match pattern/,
  ],
  ['a tool name of 129 characters', { ...good, tools: [tool('a'.repeat(129))] }, /should match pattern/],
  ['two tools of one name', { ...good, tools: [tool('a'), tool('a')] }, /Tool names must be unique/],
  [
    'a tool whose schema is no object',
    { ...good, tools: [{ name: 'a', input_schema: { type: 'string' } }] },
    /tools\.0\.input_schema\.type/,
  ],
  [
    'five breakpoints',
    { ...good, messages: [user(...['1', '2', '3', '4', '5'].map((value) => text(value, mark)))] },
    /^A maximum of 4 blocks with cache_control may be provided\. Found 5\.$/,
  ],
  [
    'thinking that was never signed',
    {
      ...good,
      messages: [
        user(text('x')),
        assistant({ type: 'thinking', thinking: 'h', signature: 'forged' }, text('y')),
        user(text('z')),
      ],
    },
    /Invalid `signature` in `thinking` block/,
  ],
];
for (const [what, body, message] of refusals) {
  test(`H9 the Messages server refuses ${what}`, async (t) => {
    const server = await serve(t);
    const refused = await post(server, body);
    assert.equal(refused.status, 400);
    const { error } = refused.body as { error: { type: string; message: string } };
    assert.equal(error.type, 'invalid_request_error');
    assert.match(error.message, message);
    assert.deepEqual(server.requests, []);
    assert.equal(server.refused.length, 1);
  });
}

test('H9 an unknown model is 404, an unknown address too', async (t) => {
  const server = await serve(t, { models: ['known'] });
  const refused = await post(server, good);
  assert.deepEqual([refused.status, (refused.body['error'] as Body)['type']], [404, 'not_found_error']);
  assert.equal((await fetch(`${server.url}/v1/complete`, { method: 'POST' })).status, 404);
});

test('H9 the prompt cache counts what was read and written, and nothing under the minimum', async (t) => {
  const server = await serve(t, { minCacheTokens: 100 });
  const long = 'word '.repeat(200);
  const body = (...messages: readonly object[]) => ({ ...good, system: [text(long, mark)], messages });
  const first = (await post(server, body(user(text('One?', mark))))).body['usage'] as Record<string, number>;
  assert.equal(first['cache_read_input_tokens'], 0);
  assert.ok((first['cache_creation_input_tokens'] ?? 0) > 200);
  assert.equal(first['input_tokens'], 0);
  const longer = body(user(text('One?')), assistant(text('Hi')), user(text('Two?', mark)));
  const second = (await post(server, longer)).body['usage'] as Record<string, number>;
  assert.equal(second['cache_read_input_tokens'], first['cache_creation_input_tokens']);
  const changed = { ...longer, system: [text(`${long}!`, mark)] };
  const third = (await post(server, changed)).body['usage'] as Record<string, number>;
  assert.equal(third['cache_read_input_tokens'], 0);
  const short = await post(server, { ...good, messages: [user(text('Hi', mark))] });
  assert.equal((short.body['usage'] as Body)['cache_creation_input_tokens'], 0);
});

test('H9 scripted failures carry the status, the headers and the error body of the API', async (t) => {
  const script = [
    { status: 529, message: 'Overloaded' },
    { status: 429, headers: { 'retry-after': '3' } },
  ];
  const server = await serve(t, { script });
  const overloaded = await post(server, good);
  assert.deepEqual(
    [overloaded.status, overloaded.body['error']],
    [529, { type: 'overloaded_error', message: 'Overloaded' }],
  );
  const limited = await post(server, good);
  assert.deepEqual([limited.status, limited.headers.get('retry-after')], [429, '3']);
  assert.match(JSON.stringify((await post(server, good)).body), /no answer to request 3/);
});
