import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { httpModelAt } from '../support/model-at.ts';
import { ModelError } from '../../src/core/errors.ts';
import type { Model, ModelRequest } from '../../src/core/model.ts';
import { quietLog } from '../support/quiet-log.ts';
import type { ServerStep } from '../servers/messages/answer.ts';
import { startMessagesServer, type MessagesServer } from '../servers/messages/messages-server.ts';

const folder = new URL('./recorded/', import.meta.url);
const recorded = readdirSync(folder).filter((name) => !name.endsWith('.md'));
const words = 'The answer is 42.';
const signal = AbortSignal.timeout(60_000);
const types: Readonly<Record<string, string>> = {
  sse: 'text/event-stream',
  json: 'application/json',
  html: 'text/html',
  txt: 'text/plain',
};

function read(name: string): Extract<ServerStep, { raw: string }> {
  return {
    raw: readFileSync(new URL(name, folder), 'utf8'),
    type: types[name.split('.').at(-1) ?? ''] ?? '',
  };
}

const hello: ModelRequest = {
  system: [],
  messages: [{ role: 'user', content: 'Roll.' }],
  tools: [{ name: 'dice', input_schema: { type: 'object' } }],
};

type Asked = Readonly<{ server: MessagesServer; model: Model }>;

/** The second request of each test would get another answer: there must be none. */
async function serve(
  t: TestContext,
  step: ServerStep,
  more: { model?: string; maxTokens?: number } = {},
): Promise<Asked> {
  const server = await startMessagesServer({
    script: (_, index) => (index === 0 ? step : 'asked twice'),
    lean: true,
  });
  t.after(() => server.close());
  const settings = {
    alias: 'default',
    model: 'qwen3:8b',
    maxTokens: 1_000,
    endpoint: { baseUrl: server.url },
    ...more,
  };
  const clock = { now: () => 0, sleep: async () => undefined };
  return { server, model: httpModelAt(settings, { log: quietLog(), clock, random: () => 0 }) };
}

for (const name of recorded.filter((each) => /\.(?:sse|json)$/.test(each) && !/^(?:call|chat)/.test(each)))
  for (const chunkBytes of [undefined, 7])
    test(`M19 the words of ${name} are an answer of one call, ${chunkBytes === undefined ? 'whole' : 'byte by byte'}`, async (t) => {
      const { server, model } = await serve(t, { ...read(name), chunkBytes: chunkBytes as number });
      let shown = '';
      const { content, stopReason, tokens } = await model.complete(hello, signal, (text) => (shown += text));
      const said = content.map((block) => (block.type === 'text' ? block.text : '?')).join('');
      assert.deepEqual([said, shown, stopReason], [words, words, 'end_turn']);
      assert.ok(tokens.input > 0 && tokens.output > 0, JSON.stringify(tokens));
      assert.equal(server.requests.length, 1);
    });

for (const name of recorded.filter((each) => each.startsWith('call')))
  test(`M19 the call of ${name} is a call with an object as its input`, async (t) => {
    const { server, model } = await serve(t, read(name));
    const { content, stopReason } = await model.complete(hello, signal);
    const calls = content.flatMap((block) => (block.type === 'tool_use' ? [[block.name, block.input]] : []));
    assert.deepEqual(calls, [['dice', { sides: 6 }]]);
    assert.equal(stopReason, 'tool_use');
    assert.equal(server.requests.length, 1);
  });

for (const name of ['page.html', 'chat-completion.json', 'chat-completion.sse', 'plain.txt'])
  test(`M19 ${name} with status 200 is a fault that stays, and says what to check`, async (t) => {
    const { server, model } = await serve(t, read(name));
    await assert.rejects(model.complete(hello, signal), (error) => {
      assert.ok(error instanceof ModelError && !error.passing);
      assert.match(error.sentence, /I've told my operator/);
      assert.equal(error.forOperator?.look, 'endpoint');
      assert.match(
        error.forOperator.said,
        name === 'page.html' ? /a web page, not in the Messages API: .*Sign in/ : /not in the Messages API/,
      );
      return true;
    });
    assert.equal(server.requests.length, 1);
  });

test('M19 an error as JSON with status 200 is what it says', async (t) => {
  for (const [type, passing] of [
    ['overloaded_error', true],
    ['authentication_error', false],
  ] as const) {
    const raw = JSON.stringify({ type: 'error', error: { type, message: 'so' } });
    const { model } = await serve(t, { raw, type: 'application/json' });
    if (passing) assert.equal((await model.complete(hello, signal)).content.length, 1);
    else
      await assert.rejects(
        model.complete(hello, signal),
        (error) => error instanceof ModelError && !error.passing,
      );
  }
});

test('M19 what breaks after the end of the words costs no second call', async (t) => {
  const { raw } = read('no-message-stop.sse');
  const late = `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"x"}}\n\n`;
  for (const step of [
    { raw, then: 'reset' as const },
    { raw: raw + late },
    { raw: `${raw}event: message_st` },
  ]) {
    const { server, model } = await serve(t, step);
    const { content } = await model.complete(hello, signal);
    assert.ok(content[0]?.type === 'text' && content[0].text === words);
    assert.equal(server.requests.length, 1);
  }
});

test('M19 a connection that stays open after the end holds nothing up', async (t) => {
  const { model } = await serve(t, { raw: read('stop-then-done.sse').raw, then: 'stays open' });
  assert.equal((await model.complete(hello, signal)).content.length, 1);
});

test('M19 a stream that ends cleanly in the middle of its words is tried again', async (t) => {
  const { raw } = read('no-block-stop.sse');
  const { server, model } = await serve(t, { raw: raw.slice(0, raw.indexOf('event: message_delta')) });
  const { content } = await model.complete(hello, signal);
  assert.ok(content[0]?.type === 'text' && content[0].text === 'asked twice');
  assert.equal(server.requests.length, 2);
});

test('M19 a Claude may write about tags: nothing of its words is thinking', async (t) => {
  const { model } = await serve(t, read('think.json'), { model: 'claude-haiku-5-5' });
  const { content } = await model.complete(hello, signal);
  assert.ok(content[0]?.type === 'text' && content[0].text.startsWith('<think>'));
});

const endless: readonly (readonly [string, (n: number) => object])[] = [
  [
    'words',
    () => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: 'for ever and ever '.repeat(50) },
    }),
  ],
  [
    'thinking',
    () => ({
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'thinking_delta', thinking: 'hm '.repeat(300) },
    }),
  ],
  [
    'arguments',
    () => ({
      type: 'content_block_delta',
      index: 2,
      delta: { type: 'input_json_delta', partial_json: '"a",'.repeat(300) },
    }),
  ],
  [
    'blocks',
    (n) => ({
      type: 'content_block_start',
      index: n,
      content_block: { type: 'tool_use', id: `c${n}`, name: 'dice', input: {} },
    }),
  ],
  [
    'unknown blocks',
    (n) => ({
      type: 'content_block_start',
      index: n,
      content_block: { type: 'trace', text: 'x'.repeat(500) },
    }),
  ],
  ['one line', () => ({ type: 'ping', more: 'x'.repeat(9_000_000) })],
];
for (const [what, event] of endless)
  test(`M19 an answer of ${what} without end is cut, as one that reached its limit`, async (t) => {
    const cut = Promise.withResolvers<void>();
    const { model } = await serve(t, { endless: event, closed: cut.resolve });
    let shown = 0;
    const answer = await model.complete(hello, signal, (text) => (shown += text.length));
    assert.equal(answer.stopReason, 'max_tokens');
    assert.ok(JSON.stringify(answer.content).length < 200_000);
    assert.ok(shown < 100_000);
    await cut.promise;
  });
