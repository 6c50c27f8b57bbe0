import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelError } from '../../src/core/errors.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import type { AnswerBlock, ServerStep } from '../servers/messages/answer.ts';
import { kinds, stageOf } from '../support/model-kinds.ts';

const { signal } = new AbortController();
const tool = {
  name: 'look',
  description: 'Looks.',
  input_schema: { type: 'object' as const, properties: { at: { type: 'string' } } },
};
const hello: ModelRequest = {
  system: [{ type: 'text', text: 'You are a test.' }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  tools: [tool],
};
const png = Buffer.from('89504e470d0a1a0a0000000d494844520000000100000001', 'hex').toString('base64');
const pdf = Buffer.from('%PDF-1.4\n').toString('base64');
const look = (at: string): AnswerBlock => ({ type: 'tool_use', name: 'look', input: { at } });

for (const kind of kinds) {
  const { api, model: name } = kind;

  test(`M17 ${api}: words stream, and every character arrives`, async (t) => {
    const words = 'Grüße, здравствуйте, 你好 👋';
    const step: ServerStep = { content: [{ type: 'text', text: words }], wire: { chunkBytes: 3 } };
    const { model, server } = await stageOf(t, kind, [step]);
    const pieces: string[] = [];
    const answer = await model.complete(hello, signal, (text) => pieces.push(text));
    assert.equal(pieces.join(''), words);
    assert.ok(pieces.length > 1);
    assert.equal(answer.stopReason, 'end_turn');
    assert.deepEqual(
      answer.content.map((block) => block.type === 'text' && block.text),
      [words],
    );
    assert.ok(answer.tokens.input > 0 && answer.tokens.output > 0, JSON.stringify(answer.tokens));
    assert.equal(answer.model, name);
    const [asked] = server.requests;
    assert.equal(asked?.body.model, name);
    if (api === 'bedrock') assert.match(String(asked.headers.authorization), /\/eu-central-1\/bedrock\//);
    assert.equal(asked.body.max_tokens, 2_000);
    assert.deepEqual(
      asked.body.messages.map(({ role }) => role),
      ['user'],
    );
    assert.match(JSON.stringify(asked.body.system), /You are a test\./);
    assert.equal(asked.body.tools?.[0]?.name, 'look');
  });

  test(`M17 ${api}: one call, then two at once, and their results go back in pairs`, async (t) => {
    const { model, server } = await stageOf(t, kind, [
      { content: [{ type: 'text', text: 'I look.' }, look('Köln')] },
      { content: [look('one'), look('two "quoted"\n')] },
      'done',
    ]);
    const messages: ModelRequest['messages'][number][] = [...hello.messages];
    for (const expected of [[{ at: 'Köln' }], [{ at: 'one' }, { at: 'two "quoted"\n' }]]) {
      const { content, stopReason } = await model.complete({ ...hello, messages }, signal);
      const calls = content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
      assert.equal(stopReason, 'tool_use');
      assert.deepEqual(
        calls.map(({ input }) => input),
        expected,
      );
      assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length);
      messages.push(
        { role: 'assistant', content: [...content] },
        {
          role: 'user',
          content: calls.map(({ id }, index) => ({
            type: 'tool_result' as const,
            tool_use_id: id,
            content: `seen ${index}`,
            is_error: index === 1,
          })),
        },
      );
    }
    const { content } = await model.complete({ ...hello, messages }, signal);
    assert.deepEqual(
      content.map((block) => block.type === 'text' && block.text),
      ['done'],
    );
    const last = server.requests[2]?.body.messages.at(-1)?.content;
    assert.deepEqual(
      Array.isArray(last) &&
        last.map((block) => block.type === 'tool_result' && [block.content, !!block.is_error]),
      [
        ['seen 0', false],
        ['seen 1', true],
      ],
    );
    assert.deepEqual(server.refused, []);
  });

  test(`M17 ${api}: a picture and a PDF arrive byte by byte`, async (t) => {
    const { model, server } = await stageOf(t, kind, ['seen']);
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } } as const;
    const document = {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: pdf },
    } as const;
    await model.complete(
      {
        ...hello,
        messages: [{ role: 'user', content: [image, document, { type: 'text', text: 'What is it?' }] }],
      },
      signal,
    );
    const [message] = server.requests[0]?.body.messages ?? [];
    const sources = (Array.isArray(message?.content) ? message.content : []).flatMap((block) =>
      'source' in block && block.source.type === 'base64' ? [[block.type, block.source.data]] : [],
    );
    assert.deepEqual(sources, [
      ['image', png],
      ['document', pdf],
    ]);
  });

  test(`M17 ${api}: with toolChoice none the tools go along, but no call is allowed`, async (t) => {
    const { model, server } = await stageOf(t, kind, ['fine']);
    await model.complete({ ...hello, toolChoice: 'none' }, signal);
    assert.deepEqual(server.requests[0]?.body.tool_choice, { type: 'none' });
    assert.equal(server.requests[0]?.body.tools?.length, 1);
  });

  test(`M17 ${api}: a prompt that was there before comes from the cache, and is counted so`, async (t) => {
    const { model } = await stageOf(t, kind, ['one', 'two']);
    const long: ModelRequest = { ...hello, system: [{ type: 'text', text: 'Rules. '.repeat(1_000) }] };
    const first = await model.complete(long, signal);
    const second = await model.complete(long, signal);
    assert.equal(first.tokens.cacheRead, 0);
    assert.ok(second.tokens.cacheRead > 1_000, JSON.stringify(second.tokens));
    const whole = ({ input, cacheRead, cacheWrite }: typeof first.tokens): number =>
      input + cacheRead + cacheWrite;
    assert.equal(whole(first.tokens), whole(second.tokens), 'what was cached is counted once');
  });

  test(`M17 ${api}: an answer that the limit cut, and one that the provider refused`, async (t) => {
    const { model } = await stageOf(t, kind, [
      { content: [look('a long place')], stopReason: 'max_tokens' },
      { content: [{ type: 'text', text: 'I' }], stopReason: 'refusal' },
    ]);
    assert.equal((await model.complete(hello, signal)).stopReason, 'max_tokens');
    assert.equal((await model.complete(hello, signal)).stopReason, 'refusal');
  });

  for (const status of [408, 409, 429, 500, 502, 503])
    test(`M17 M4 ${api}: a ${status} is tried again, as the server asks`, async (t) => {
      const { model, waits, server } = await stageOf(t, kind, [
        { status, headers: { 'retry-after': '7' } },
        { status },
        'fine',
      ]);
      const { content } = await model.complete(hello, signal);
      assert.equal(content.length, 1);
      assert.deepEqual(
        waits.filter((ms) => ms < 100_000),
        [7_000, 1_000],
      );
      assert.equal(server.requests.length, 3);
    });

  for (const [status, look, tooLong] of [
    [400, undefined, false],
    [401, 'key', false],
    [402, 'account', false],
    [403, 'key', false],
    [404, 'endpoint', false],
    [413, undefined, true],
  ] as const)
    test(`M17 M4 ${api}: a ${status} stays, and its cause is told without secrets`, async (t) => {
      const message = 'no: sk-test-a-key-that-must-stay-in';
      const { model, waits, server } = await stageOf(t, kind, [{ status, message }, 'never reached']);
      await assert.rejects(model.complete(hello, signal), (error) => {
        assert.ok(error instanceof ModelError);
        assert.deepEqual(
          [error.passing, error.forOperator?.look, error.tooLong],
          [false, look, tooLong],
          error.message,
        );
        assert.match(error.sentence, /^[A-Z][^\n]*\.$/);
        if (api === 'anthropic' || api === 'openai')
          assert.doesNotMatch(
            `${error.message} ${error.stack} ${String(error.cause)} ${error.said}`,
            /stay-in/,
          );
        return true;
      });
      assert.deepEqual(
        waits.filter((ms) => ms < 100_000),
        [],
      );
      assert.equal(server.requests.length, 1);
    });

  test(`M17 M3 ${api}: a prompt that is too long is known as such`, async (t) => {
    const message =
      api === 'openai'
        ? "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens."
        : 'prompt is too long: 210000 tokens > 200000 maximum';
    const { model } = await stageOf(t, kind, [{ status: 400, message }]);
    await assert.rejects(
      model.complete(hello, signal),
      (error) => error instanceof ModelError && error.tooLong && !error.passing,
    );
  });

  const broken: readonly (readonly [string, ServerStep])[] = [
    ['a reset connection', { reset: true }],
    ['a stream that is cut', { content: [{ type: 'text', text: 'half an answer' }], wire: { cutAfter: 3 } }],
    [
      'an error in the middle of a stream',
      {
        content: [{ type: 'text', text: 'half an answer' }],
        wire: { errorAfter: { events: 3, type: 'overloaded_error', message: 'Overloaded' } },
      },
    ],
  ];
  for (const [what, step] of broken)
    test(`M17 M4 ${api}: ${what} is tried again, and no text is shown twice`, async (t) => {
      const { model, server } = await stageOf(t, kind, [step, 'a whole answer']);
      let shown = '';
      const { content } = await model.complete(hello, signal, (text) => (shown += text));
      assert.deepEqual(
        content.map((block) => block.type === 'text' && block.text),
        ['a whole answer'],
      );
      assert.ok(shown === 'a whole answer' || 'half an answer'.startsWith(shown), shown);
      assert.equal(server.requests.length, 2);
    });

  test(`M17 ${api}: an abort ends the request at once`, async (t) => {
    const hold = Promise.withResolvers<void>();
    t.after(() => hold.resolve());
    const { model } = await stageOf(t, kind, [
      { content: [{ type: 'text', text: 'a slow answer' }], wire: { hold: hold.promise } },
    ]);
    const stopping = new AbortController();
    const reason = new Error('stopped');
    await assert.rejects(
      model.complete(hello, stopping.signal, () => stopping.abort(reason)),
      (error) => error === reason,
    );
  });
}
