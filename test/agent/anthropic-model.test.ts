import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { httpModelAt, type ModelAt } from '../support/model-at.ts';
import { withFallback } from '../../src/agent/models/with-fallback.ts';
import { createSilenceWatch } from '../../src/agent/models/silence-watch.ts';
import { createServer } from '../../src/lib/net/node-http.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { ModelError } from '../../src/core/errors.ts';
import type { Log } from '../../src/lib/log.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import { unparsedInput } from '../../src/core/entry.ts';
import type { ServerStep } from '../servers/messages/answer.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { startMessagesServer, type MessagesServer } from '../servers/messages/messages-server.ts';

const key = 'sk-test-a-key-that-must-stay-in';
const hello: ModelRequest = {
  system: [{ type: 'text', text: 'You are a test.' }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  tools: [],
};

function recorder(): { log: Log; lines: string[]; clock: Clock; waits: number[] } {
  const lines: string[] = [];
  const waits: number[] = [];
  let now = 1_000;
  const write = (fields: object, message: string): void =>
    void lines.push(JSON.stringify({ ...fields, message }));
  return {
    lines,
    waits,
    log: { debug: write, info: write, warn: write, error: write },
    clock: {
      now: () => now,
      async sleep(ms, signal) {
        signal?.throwIfAborted();
        waits.push(ms);
        now += ms;
      },
    },
  };
}

async function serve(
  t: TestContext,
  script: Parameters<typeof startMessagesServer>[0]['script'],
  more: Partial<Parameters<typeof startMessagesServer>[0]> = {},
): Promise<MessagesServer> {
  const server = await startMessagesServer({ script, ...more });
  t.after(() => server.close());
  return server;
}

type More = Partial<Omit<ModelAt, 'endpoint'>> &
  Partial<ModelAt['endpoint']> &
  Readonly<{ clock?: Clock; random?: () => number }>;

function connect(server: Pick<MessagesServer, 'url'>, more: More = {}) {
  const { log, lines, clock, waits } = recorder();
  const model = httpModelAt(
    {
      alias: 'default',
      model: 'claude-sonnet-5-5',
      maxTokens: 1_000,
      ...more,
      endpoint: { baseUrl: server.url, apiKey: key, ...more },
    },
    { log, clock, random: () => 0, ...more },
  );
  return { model, lines, waits };
}

const signal = AbortSignal.timeout(60_000);

test('M1 a model is asked over the Messages API and its text streams', async (t) => {
  const server = await serve(t, [
    { content: [{ type: 'text', text: 'Grüße, здравствуйте, 你好 👋' }], wire: { chunkBytes: 3 } },
  ]);
  const { model } = connect(server, { contextWindow: 200_000, effort: 'low', thinking: 'adaptive' });
  const pieces: string[] = [];
  const answer = await model.complete(hello, signal, (text) => pieces.push(text));
  assert.equal(pieces.join(''), 'Grüße, здравствуйте, 你好 👋');
  assert.ok(pieces.length > 1);
  assert.equal(answer.stopReason, 'end_turn');
  assert.deepEqual(
    answer.content[0]?.type === 'text' && answer.content[0].text,
    'Grüße, здравствуйте, 你好 👋',
  );
  const [request] = server.requests;
  assert.equal(request?.headers.authorization, `Bearer ${key}`);
  assert.equal(request.headers['anthropic-version'], '2026-10-21');
  assert.deepEqual(request.body.output_config, { effort: 'low' });
  assert.deepEqual(request.body.thinking, { type: 'adaptive' });
  assert.equal(request.body.max_tokens, 1_000);
  assert.equal(model.contextWindow, 200_000);
});

test('M1 a local server without keys, counts and request ids works, and no key leaks to it', async (t) => {
  const before = process.env['ANTHROPIC_API_KEY'];
  process.env['ANTHROPIC_API_KEY'] = 'sk-of-somebody-else';
  t.after(() => {
    if (before === undefined) delete process.env['ANTHROPIC_API_KEY'];
    else process.env['ANTHROPIC_API_KEY'] = before;
  });
  const server = await serve(t, [{ content: [{ type: 'tool_use', name: 'dice', input: { sides: 6 } }] }], {
    lean: true,
  });
  const { model } = connect(server, { apiKey: undefined });
  const answer = await model.complete(
    { ...hello, tools: [{ name: 'dice', input_schema: { type: 'object' } }] },
    signal,
  );
  assert.equal(answer.stopReason, 'tool_use');
  assert.equal(answer.tokens.cacheRead, 0);
  assert.ok(answer.tokens.input > 0);
  assert.equal(server.requests[0]?.headers.authorization, undefined);
  assert.equal(server.requests[0]?.headers['x-api-key'], undefined);
});

for (const status of [408, 409, 429, 500, 502, 503, 529]) {
  test(`M4 a ${status} is tried again`, async (t) => {
    const server = await serve(t, [{ status }, { status }, 'fine']);
    const { model, waits } = connect(server);
    const answer = await model.complete(hello, signal);
    assert.deepEqual(
      answer.content.map((block) => block.type === 'text' && block.text),
      ['fine'],
    );
    assert.deepEqual(waits, [500, 1_000]);
  });
}

const brokenStreams: readonly (readonly [string, ServerStep])[] = [
  ['a reset connection', { reset: true }],
  ['a stream cut before it began', { content: [{ type: 'text', text: 'half a' }], wire: { cutAfter: 0 } }],
  [
    'a stream cut in the middle',
    { content: [{ type: 'text', text: 'half an answer' }], wire: { cutAfter: 4 } },
  ],
  [
    'an error in the middle of a stream',
    {
      content: [{ type: 'text', text: 'half an answer' }],
      wire: { errorAfter: { events: 4, type: 'overloaded_error', message: 'Overloaded' } },
    },
  ],
];
for (const [what, step] of brokenStreams) {
  test(`M4 ${what} is tried again, and no text is streamed twice`, async (t) => {
    const server = await serve(t, [step, 'a whole answer']);
    const { model, lines } = connect(server);
    let streamed = '';
    const answer = await model.complete(hello, signal, (text) => (streamed += text));
    assert.deepEqual(
      answer.content.map((block) => block.type === 'text' && block.text),
      ['a whole answer'],
    );
    assert.ok(streamed === 'a whole answer' || 'half an answer'.startsWith(streamed), streamed);
    assert.equal(server.requests.length, 2);
    assert.ok(lines.some((line) => line.includes('tried again')));
  });
}

for (const status of [400, 401, 402, 403, 404, 413]) {
  test(`M4 a ${status} is never tried again, and the person gets one plain sentence`, async (t) => {
    const server = await serve(t, [{ status, message: `no: ${key}` }, 'never reached']);
    const { model, lines, waits } = connect(server);
    await assert.rejects(model.complete(hello, signal), (error) => {
      assert.ok(error instanceof ModelError);
      assert.equal(error.passing, false);
      assert.match(error.sentence, /^[A-Z][^\n]*\.$/);
      assert.doesNotMatch(`${error.message} ${error.stack} ${String(error.cause)}`, new RegExp(key));
      assert.match(error.message, /\[redacted api_key\]/);
      return true;
    });
    assert.deepEqual(waits, []);
    assert.equal(server.requests.length, 1);
    assert.ok(lines.some((line) => line.includes(String(status))));
    assert.ok(lines.every((line) => !line.includes(key)));
  });
}

test('M4 after four tries the fault is passed on as one that passes', async (t) => {
  const server = await serve(t, () => ({ status: 529, message: 'Overloaded' }));
  const { model, waits } = connect(server);
  await assert.rejects(
    model.complete(hello, signal),
    (error) => error instanceof ModelError && error.passing,
  );
  assert.equal(server.requests.length, 4);
  assert.deepEqual(waits, [500, 1_000, 2_000]);
});

test("M4 the server's retry-after is honoured, with jitter on top", async (t) => {
  const server = await serve(t, [
    { status: 429, headers: { 'retry-after': '7' } },
    { status: 529, headers: { 'retry-after-ms': '1500' } },
    'fine',
  ]);
  const { model, waits } = connect(server, { random: () => 1 });
  await model.complete(hello, signal);
  assert.deepEqual(waits, [8_750, 1_875]);
});

test('M4 a wait that would overrun the time budget is not begun', async (t) => {
  const server = await serve(t, [{ status: 429, headers: { 'retry-after': '3600' } }, 'never reached']);
  const { model, waits } = connect(server);
  await assert.rejects(
    model.complete(hello, signal),
    (error) => error instanceof ModelError && error.passing,
  );
  assert.deepEqual(waits, []);
});

test('M4 what the server says not to try again is not tried again', async (t) => {
  const server = await serve(t, [{ status: 429, headers: { 'x-should-retry': 'false' } }, 'never reached']);
  const { model } = connect(server);
  await assert.rejects(
    model.complete(hello, signal),
    (error) => error instanceof ModelError && !error.passing,
  );
  assert.equal(server.requests.length, 1);
});

test('M4 a server that is not there is a fault that passes, said plainly', async () => {
  const gone = await startMessagesServer({ script: [] });
  await gone.close();
  const { model } = connect(gone);
  await assert.rejects(model.complete(hello, signal), (error) => {
    assert.ok(error instanceof ModelError && error.passing);
    assert.match(error.sentence, /can't reach/);
    assert.match(error.message, /ECONNREFUSED/);
    return true;
  });
});

test('M4 a prompt that is too long is said to be', async (t) => {
  const server = await serve(t, [
    { status: 400, message: 'prompt is too long: 210000 tokens > 200000 maximum' },
  ]);
  const { model } = connect(server);
  await assert.rejects(
    model.complete(hello, signal),
    (error) => error instanceof ModelError && /too long/.test(error.sentence),
  );
});

for (const [server, status, type, message] of [
  ['Anthropic', 400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'],
  [
    'Anthropic',
    400,
    'invalid_request_error',
    'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again',
  ],
  ['Anthropic', 413, 'request_too_large', 'Request exceeds the maximum size'],
  ['Bedrock', 400, 'ValidationException', 'Input is too long for requested model.'],
  [
    'vLLM',
    400,
    'BadRequestError',
    "This model's maximum context length is 8192 tokens. However, your request has 9203 input tokens.",
  ],
  ['llama.cpp', 500, 'exceed_context_size_error', 'the request exceeds the available context size'],
  ['LM Studio', 400, 'invalid_request_error', 'tokens to keep is greater than the context length'],
  ['SGLang', 400, 'BadRequest', "The input (9000 tokens) is longer than the model's context length"],
  ['Gemini', 400, 'INVALID_ARGUMENT', 'The input token count (1196265) exceeds the maximum number of tokens'],
  ['Groq', 400, 'invalid_request_error', 'Please reduce the length of the messages or completion.'],
] as const) {
  test(`M3 M4 what ${server} says of a prompt that is too long is understood, and not tried again: ${message}`, async (t) => {
    const lean = await serve(t, [{ status, type, message }, 'never reached']);
    const { model } = connect(lean);
    await assert.rejects(
      model.complete(hello, signal),
      (error) =>
        error instanceof ModelError &&
        error.tooLong &&
        !error.passing &&
        error.tooLarge === (Number(status) === 413),
    );
    assert.equal(lean.requests.length, 1);
  });
}

test('M3 other refusals are not taken for a prompt that is too long', async (t) => {
  for (const [status, message] of [
    [400, 'max_tokens: 10000 > 4096, which is the maximum allowed number of output tokens for m'],
    [
      400,
      'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes',
    ],
    [400, 'tools.0.name: String should have at most 128 characters'],
    [401, 'your key has no access to the long context window'],
    [429, "This request would exceed your organization's limit for long context"],
  ] as const) {
    const server = await serve(t, [{ status, message, headers: { 'x-should-retry': 'false' } }]);
    await assert.rejects(
      connect(server).model.complete(hello, signal),
      (error) => error instanceof ModelError && !error.tooLong,
      message,
    );
  }
});

test('M3 an abort ends a request in the middle of its stream, with its own reason', async (t) => {
  const { promise: held, resolve } = Promise.withResolvers<void>();
  const server = await serve(t, [{ content: [{ type: 'text', text: 'slow' }], wire: { hold: held } }]);
  const { model } = connect(server);
  const controller = new AbortController();
  const reason = new Error('stopped by the test');
  const asked = model.complete(hello, controller.signal, () => controller.abort(reason));
  await assert.rejects(asked, (error) => error === reason);
  resolve();
  assert.equal(server.requests.length, 1);
});

test('M3 an abort ends the wait between two tries', async (t) => {
  const server = await serve(t, [{ status: 529 }, 'never reached']);
  const controller = new AbortController();
  const { clock } = recorder();
  const { model } = connect(server, {
    clock: {
      ...clock,
      async sleep(_ms, waiting) {
        controller.abort(new Error('stopped'));
        waiting?.throwIfAborted();
      },
    },
  });
  await assert.rejects(model.complete(hello, controller.signal), /stopped/);
  assert.equal(server.requests.length, 1);
});

test('M4 a stream that falls silent is given up after its time and tried again', async (t) => {
  const held = Promise.withResolvers<void>();
  t.after(() => held.resolve());
  const server = await serve(t, [
    { content: [{ type: 'text', text: 'lost' }], wire: { hold: held.promise } },
    { content: [{ type: 'text', text: 'found' }] },
  ]);
  const fallen = Promise.withResolvers<void>();
  let now = 1_000;
  // Once the first answer fell silent, its time passes; the second never gets late.
  const clock: Clock = {
    now: () => now,
    async sleep(ms, over) {
      if (ms < 120_000) return;
      await (server.requests.length === 1 && ms === 120_000 ? fallen.promise : held.promise);
      await setImmediate();
      over?.throwIfAborted();
      now += 120_000;
    },
  };
  const { model, lines } = connect(server, { clock, silenceMs: 120_000 });
  const { content } = await model.complete(hello, signal, () => fallen.resolve());
  assert.deepEqual(
    content.map((block) => block.type === 'text' && block.text),
    ['found'],
  );
  assert.match(lines.join(''), /silent for 120 s/);
});

test('M4 a server that sends no header for 290 s is not asked again: the fallback answers', async (t) => {
  const asked = Promise.withResolvers<void>();
  const answers: ServerResponse[] = [];
  const mute = createServer((_request, response) => {
    answers.push(response);
    asked.resolve();
  });
  mute.listen(0, '127.0.0.1');
  await once(mute, 'listening');
  t.after(() => {
    mute.closeAllConnections();
    mute.close();
  });
  const waits: number[] = [];
  const clock: Clock = {
    now: () => 1_000,
    async sleep(ms, over) {
      await asked.promise;
      over?.throwIfAborted();
      waits.push(ms);
    },
  };
  const { port } = mute.address() as AddressInfo;
  const { model, lines } = connect({ url: `http://127.0.0.1:${port}` }, { clock, silenceMs: 120_000 });
  await assert.rejects(model.complete(hello, signal), (error: unknown) => {
    assert.ok(error instanceof ModelError && error.passing);
    assert.match(error.message, /the server was silent for 290 s/);
    return true;
  });
  assert.deepEqual([answers.length, waits], [1, [290_000]]);
  assert.match(lines.join(''), /the model gave no answer/);
  const server = await serve(t, [{ content: [{ type: 'text', text: 'from the other' }] }]);
  const { log } = recorder();
  const both = withFallback([model, connect(server).model], { resting: new Map(), log, clock });
  const { content } = await both.complete(hello, signal);
  assert.deepEqual(
    content.map((block) => block.type === 'text' && block.text),
    ['from the other'],
  );
});

test('M4 each byte, a ping too, begins the time of silence again', async () => {
  const clock = createManualClock();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const read = createSilenceWatch(100, clock)(new Response(readable)).text();
  read.catch(() => undefined);
  for (const part of ['event: ping\n', 'a', 'b']) {
    await clock.advance(99);
    void writer.write(new TextEncoder().encode(part));
    await clock.advance(0);
  }
  void writer.close();
  assert.equal(await read, 'event: ping\nab');
  const silent = createSilenceWatch(100, clock)(new Response(new ReadableStream())).text();
  const failed = assert.rejects(silent, /silent for 0.1 s/);
  await clock.advance(100);
  await failed;
});

test('M4 answers that are read at the same time fall silent each at its own time', async () => {
  const clock = createManualClock();
  const watch = createSilenceWatch(100, clock);
  const streams = [0, 1].map(() => new TransformStream<Uint8Array, Uint8Array>());
  const failed = [false, false];
  for (const [n, { readable }] of streams.entries())
    watch(new Response(readable))
      .text()
      .catch(() => (failed[n] = true));
  await clock.advance(60);
  void streams[1]?.writable.getWriter().write(new TextEncoder().encode('later'));
  await clock.advance(39);
  assert.deepEqual(failed, [false, false]);
  await clock.advance(1);
  assert.deepEqual(failed, [true, false]);
  await clock.advance(59);
  assert.deepEqual(failed, [true, false]);
  await clock.advance(1);
  assert.deepEqual(failed, [true, true]);
});

test('M4 an answer whose call has arguments that are no JSON is an answer: what was written is kept for the refusal', async (t) => {
  const server = await serve(t, [
    {
      content: [
        { type: 'text', text: 'I try.' },
        { type: 'tool_use', name: 'note', input: {}, json: '{"text": oops}' },
        { type: 'tool_use', name: 'note', input: {}, json: '[1]' },
        { type: 'tool_use', name: 'note', input: { text: 'fine' } },
      ],
      stopReason: 'tool_use',
      wire: { chunkBytes: 3 },
    },
  ]);
  const { model, waits } = connect(server);
  const { content, stopReason } = await model.complete({ ...hello, tools: [note] }, signal);
  const inputs = content.flatMap((block) => (block.type === 'tool_use' ? [block.input] : []));
  assert.deepEqual(inputs, [unparsedInput('{"text": oops}'), unparsedInput('[1]'), { text: 'fine' }]);
  assert.equal(stopReason, 'tool_use');
  assert.deepEqual(waits, []);
});

const note = {
  name: 'note',
  description: 'Notes.',
  input_schema: { type: 'object' as const, properties: { text: { type: 'string' } } },
};
