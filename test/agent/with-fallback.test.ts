import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createModels } from '../../src/agent/models/create-models.ts';
import { withFallback, type FallbackDeps, type Hop } from '../../src/agent/models/with-fallback.ts';
import { ModelError } from '../../src/core/errors.ts';
import {
  fallbackCauses,
  noTokens,
  usedBy,
  type FallbackCause,
  type Model,
  type ModelAnswer,
  type ModelsSettings,
} from '../../src/core/model.ts';
import type { ServerStep } from '../servers/messages/answer.ts';
import { startChatServer } from '../servers/chat/chat-server.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import { scriptedModel } from '../support/scripted-model.ts';

const { signal } = new AbortController();
const hello = { system: [], tools: [], messages: [{ role: 'user' as const, content: 'Hello' }] };
const now = { 'retry-after-ms': '0' };

/** What a server does, and why the next model is asked then. Undefined: it is not asked. */
const table: readonly (readonly [what: string, step: ServerStep, cause: FallbackCause | undefined])[] = [
  ['429', { status: 429, headers: now }, 'busy'],
  ['529', { status: 529, headers: now }, 'busy'],
  ['503', { status: 503, headers: now }, 'busy'],
  ['500', { status: 500, headers: now }, 'down'],
  ['a model that is not there', { status: 404, message: 'model: gone' }, 'down'],
  ['another API', { raw: '<html>', type: 'text/html' }, 'down'],
  ['401', { status: 401 }, 'key'],
  ['403', { status: 403 }, 'key'],
  ['402', { status: 402 }, 'credit'],
  ['no credit as a 400', { status: 400, message: 'Your credit balance is too low.' }, 'credit'],
  ['too long', { status: 400, message: 'prompt is too long: 300000 tokens > 200000 maximum' }, 'too_long'],
  ['413', { status: 413 }, 'too_long'],
  ['a refusal', { content: [{ type: 'text', text: 'No.' }], stopReason: 'refusal' }, 'refusal'],
  ['an invalid request', { status: 400, message: 'tools.0: Field required' }, undefined],
  ['a picture it does not see', { status: 400, message: 'image input is not supported' }, undefined],
];

async function stage(t: TestContext, step: ServerStep, more: Partial<ModelsSettings> = {}) {
  const first = await startMessagesServer({ script: () => step });
  const second = await startChatServer({ script: () => 'I step in.' });
  t.after(() => Promise.all([first.close(), second.close()]));
  const hops: Hop[] = [];
  const log = quietLog();
  const settings: ModelsSettings = {
    fallback: ['second'],
    aliases: {
      default: { model: 'claude-sonnet-5-5', baseUrl: first.url, apiKey: 'k' },
      second: { api: 'openai', model: 'spare', baseUrl: second.url, apiKey: 'k' },
    },
    ...more,
  };
  const clock = {
    now: () => 0,
    sleep: async (ms: number) => (ms < 9_000 ? undefined : new Promise<void>(() => {})),
  };
  const models = createModels(settings, { log, clock, onHop: (hop) => hops.push(hop) });
  return { first, second, hops, log, ask: () => models.get().complete(hello, signal) };
}

for (const [what, step, cause] of table)
  test(`M18 ${what}: ${cause ?? 'the next model is not asked'}`, async (t) => {
    const { ask, hops, log, second } = await stage(t, step, { fallbackOn: fallbackCauses });
    if (cause === undefined) {
      await assert.rejects(ask, ModelError);
      assert.deepEqual([hops, second.requests.length], [[], 0]);
      return;
    }
    const { shares = [], content } = await ask();
    assert.match(JSON.stringify(content), /I step in\./);
    assert.deepEqual(hops, [{ model: 'default', fallback: 'second', cause }]);
    assert.deepEqual(
      shares.map(({ alias, cause: why }) => [alias, why]),
      [
        ['default', cause],
        ['second', undefined],
      ],
    );
    const line = log.lines.find(({ message }) => message === 'the fallback model is asked');
    assert.deepEqual(
      [line?.fields['model'], line?.fields['fallback'], line?.fields['cause']],
      ['default', 'second', cause],
    );
  });

test('M18 a refusal is final unless fallback_on names it, and a cause that it does not name ends the request', async (t) => {
  const refusal = table.find(([what]) => what === 'a refusal')?.[1] ?? assert.fail();
  const one = await stage(t, refusal);
  assert.equal((await one.ask()).stopReason, 'refusal');
  const other = await stage(t, { status: 401 }, { fallbackOn: ['busy'] });
  await assert.rejects(other.ask, /model "default"/);
  assert.deepEqual([one.hops, other.hops], [[], []]);
});

const answer: ModelAnswer = {
  content: [{ type: 'text', text: 'All of it.', citations: null }],
  stopReason: 'end_turn',
  tokens: { ...noTokens, input: 10, output: 2 },
  model: 'm',
};

/** A model that fails by these causes in turn, and answers after that. It keeps when it was asked. */
function failing(alias: string, causes: readonly (FallbackCause | undefined)[], more: Partial<Model> = {}) {
  const asked: number[] = [];
  const model: Model = {
    ...scriptedModel([], { alias }),
    async complete(_request, _signal, onText) {
      const cause = causes[asked.push(asked.length) - 1];
      if (cause === 'refusal') return { ...answer, content: [], stopReason: 'refusal' };
      if (cause !== undefined)
        throw new ModelError(`${alias} failed`, {
          sentence: `${alias} failed`,
          passing: cause === 'busy' || cause === 'down',
          tooLong: cause === 'too_long',
          why: cause,
        });
      onText?.('All of it.');
      return answer;
    },
    ...more,
  };
  return { model, asked };
}

function deps(more: Pick<FallbackDeps, 'on' | 'onHop'> = {}) {
  const clock = createManualClock();
  return { resting: new Map() as FallbackDeps['resting'], log: quietLog(), ...more, clock };
}

test('M18 models are asked in their order until one answers, and each is counted under its own name', async () => {
  const [a, b, c] = [failing('a', ['refusal']), failing('b', ['key']), failing('c', [])];
  const { shares, tokens } = await withFallback(
    [a.model, b.model, c.model],
    deps({ on: fallbackCauses }),
  ).complete(hello, signal);
  assert.deepEqual(usedBy({ shares, tokens }, 'a'), [
    { model: 'a', tokens: answer.tokens },
    { model: 'c ← a (refusal)', tokens: answer.tokens },
  ]);
});

test('M18 for a minute after a fault that fits every request the model is asked last, then first again', async () => {
  const [a, b] = [failing('a', ['busy']), failing('b', [])];
  const hops: Hop[] = [];
  const made = deps({ onHop: (hop) => hops.push(hop) });
  const model = withFallback([a.model, b.model], made);
  await model.complete(hello, signal);
  await model.complete(hello, signal);
  assert.deepEqual([a.asked.length, b.asked.length, hops.length], [1, 2, 2]);
  await made.clock.advance(60_000);
  assert.equal((await model.complete(hello, signal)).shares, undefined);
  assert.equal(a.asked.length, 2);
});

test('M18 a model that rests is asked if no other one answers', async () => {
  const [a, b] = [failing('a', ['down']), failing('b', [undefined, 'key'])];
  const model = withFallback([a.model, b.model], deps());
  await model.complete(hello, signal);
  const { shares } = await model.complete(hello, signal);
  assert.deepEqual(
    shares?.map(({ alias, cause }) => [alias, cause]),
    [
      ['a', 'down'],
      ['b', 'key'],
      ['a', undefined],
    ],
  );
});

test('M18 what is too long goes to a model whose window is larger or unknown, and no model rests for it', async () => {
  const small = failing('small', [], { contextWindow: 1_000 });
  const large = failing('large', [], { contextWindow: 100_000 });
  const first = failing('first', ['too_long', 'too_long'], { contextWindow: 10_000 });
  const model = withFallback([first.model, small.model, large.model], deps());
  await model.complete(hello, signal);
  await model.complete(hello, signal);
  assert.deepEqual([first.asked.length, small.asked.length, large.asked.length], [2, 0, 2]);
  await assert.rejects(
    withFallback([failing('a', ['too_long'], { contextWindow: 10_000 }).model, small.model], deps()).complete(
      hello,
      signal,
    ),
    ({ tooLong }: ModelError) => tooLong,
  );
});

test('M18 if none answers, the error is the one that helps most', async () => {
  const told = async (...causes: readonly FallbackCause[]): Promise<string> => {
    const [first, ...rest] = causes.map((cause) => failing(cause, [cause]).model);
    const failed = withFallback([first ?? assert.fail(), ...rest], deps()).complete(hello, signal);
    return failed.then(
      () => assert.fail('it answered'),
      (error: ModelError) => error.message,
    );
  };
  assert.equal(await told('key', 'busy', 'credit'), 'busy failed');
  assert.equal(await told('too_long', 'busy'), 'too_long failed');
  assert.equal(await told('key', 'credit'), 'key failed');
});

test('M4 M18 the next model shows nothing while it writes if one before it did, so no words stand twice', async () => {
  const halfway = (...written: readonly string[]) =>
    failing('half', [], {
      async complete(_request, _signal, onText) {
        for (const text of written) onText?.(text);
        throw new ModelError('529 overloaded', { sentence: 'Busy.', passing: true, why: 'busy' });
      },
    }).model;
  const shown = async (first: Model): Promise<string> => {
    const texts: string[] = [];
    await withFallback([first, failing('next', []).model], deps()).complete(hello, signal, (text) =>
      texts.push(text),
    );
    return texts.join('');
  };
  assert.equal(await shown(halfway('All', ' of')), 'All of');
  assert.equal(await shown(halfway()), 'All of it.');
});
