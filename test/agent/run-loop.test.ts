import type Anthropic from '@anthropic-ai/sdk';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoopResult } from '../../src/agent/next-step.ts';
import { interrupted, type CallTool } from '../../src/core/tool-call.ts';
import { runLoop, type LoopDeps, type LoopInput } from '../../src/agent/run-loop.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Entry } from '../../src/core/entry.ts';
import { ModelError } from '../../src/core/errors.ts';
import { noTokens } from '../../src/core/model.ts';
import { isShutdown, shutdownReason } from '../../src/lib/async/shutdown.ts';
import { type ToolSpec, readOnly, type Traits } from '../../src/core/tool.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { scriptedModel, type ModelStep, type ScriptedModel } from '../support/scripted-model.ts';
import { equalData } from '../support/equal-data.ts';

const question: Entry = { kind: 'user', item: 'm1', content: 'What is it?', at: 1 };
const writes: Traits = { ...readOnly, sideEffects: true, idempotent: false };
const spec = (name: string, traits: Traits): ToolSpec => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
  traits,
});
const tools = [
  spec('look', readOnly),
  spec('search', readOnly),
  spec('write', writes),
  spec('put', { ...writes, idempotent: true }),
];

type Run = Readonly<{
  result: LoopResult;
  stored: readonly Entry[];
  log: readonly string[];
  model: ScriptedModel;
}>;

/** Runs the loop over a journal in memory; `log` holds calls and stored entries in their order. */
async function run(
  script: readonly ModelStep[],
  more: Partial<LoopInput & LoopDeps> = {},
  call: CallTool = async ({ name }) => ({ content: `${name} done`, isError: false }),
): Promise<Run> {
  const model = scriptedModel(script);
  const stored: Entry[] = [];
  const log: string[] = [];
  const result = await runLoop(
    {
      system: [{ type: 'text', text: 'You are a test.' }],
      entries: [question],
      maxIterations: 5,
      ...more,
    },
    {
      model,
      tools: () => tools,
      callTool: async (toolCall, signal, begin) => {
        await begin?.();
        log.push(`call ${toolCall.id}`);
        return call(toolCall, signal);
      },
      async append(entry) {
        await Promise.resolve();
        stored.push(entry);
        log.push('toolUseId' in entry ? `${entry.kind} ${entry.toolUseId}` : entry.kind);
      },
      signal: new AbortController().signal,
      clock: systemClock,
      ...more,
    },
  );
  return { result, stored, log, model };
}

function answer(
  stopReason: Anthropic.StopReason,
  ...content: readonly (Partial<Anthropic.ContentBlock> & { type: string })[]
): Entry {
  return {
    kind: 'assistant',
    content: content as Anthropic.ContentBlock[],
    stopReason,
    tokens: noTokens,
    model: 'm',
    at: 2,
  };
}
const use = (id: string, name: string): { type: 'tool_use'; id: string; name: string; input: object } => ({
  type: 'tool_use',
  id,
  name,
  input: {},
});

test('M2 the loop asks, carries out the calls and gives back the final text with its sums', async () => {
  const { result, model } = await run([
    { text: 'I look.', calls: [{ name: 'look' }], tokens: { input: 10, output: 2 } },
    { text: ' It is a test. ', tokens: { input: 20, output: 3, cacheRead: 10 } },
  ]);
  assert.deepEqual(result, {
    status: 'ok',
    artifacts: [],
    text: 'It is a test.',
    iterations: 2,
    tokens: { input: 30, output: 5, cacheRead: 10, cacheWrite: 0 },
  });
  equalData(model.requests[1]?.messages.at(-1), {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'look done' }],
  });
  assert.deepEqual(
    model.requests[0]?.tools.map(({ name }) => name),
    ['look', 'search', 'write', 'put'],
  );
});

test('M7 an entry is stored before its effect: the answer before its calls, the start before the call', async () => {
  const { log } = await run([{ calls: [{ name: 'write' }, { name: 'write' }] }, 'done']);
  assert.deepEqual(log, [
    'assistant',
    'tool_started call_1',
    'call call_1',
    'tool_result call_1',
    'tool_started call_2',
    'call call_2',
    'tool_result call_2',
    'assistant',
  ]);
});

test('M7 a journal that cannot store ends the loop before the effect', async () => {
  const journal = {
    async append(entry: Entry) {
      if (entry.kind === 'tool_started') throw new Error('disk full');
    },
  };
  let called = 0;
  const call: CallTool = async () => ({ content: String(++called), isError: false });
  await assert.rejects(run([{ calls: [{ name: 'write' }] }, 'done'], journal, call), /disk full/);
  assert.equal(called, 0);
});

test('M3 calls run side by side when every one of them is read-only', async () => {
  const both = Promise.withResolvers<void>();
  let running = 0;
  const call: CallTool = async ({ name }) => {
    if (++running === 2) both.resolve();
    await both.promise;
    return { content: name, isError: false };
  };
  const { result, log } = await run([{ calls: [{ name: 'look' }, { name: 'search' }] }, 'done'], {}, call);
  assert.equal(result.status, 'ok');
  assert.deepEqual(log.slice(0, 5), [
    'assistant',
    'tool_started call_1',
    'tool_started call_2',
    'call call_1',
    'call call_2',
  ]);
});

test('M3 calls run in order when one of them is not read-only, or is of an unknown tool', async () => {
  for (const name of ['write', 'unheard_of']) {
    let running = 0;
    const call: CallTool = async () => {
      assert.equal(++running, 1);
      await new Promise(setImmediate);
      running--;
      return { content: 'ok', isError: false };
    };
    const { log } = await run([{ calls: [{ name: 'look' }, { name }, { name: 'look' }] }, 'done'], {}, call);
    assert.deepEqual(
      log.filter((line) => line.startsWith('call ')),
      ['call call_1', 'call call_2', 'call call_3'],
    );
  }
});

test('M3 the tools are asked for before each call: what is allowed may change', async () => {
  let allowed = tools;
  const call: CallTool = async () => {
    allowed = tools.slice(0, 1);
    return { content: 'ok', isError: false };
  };
  const { model } = await run([{ calls: [{ name: 'look' }] }, 'done'], { tools: () => allowed }, call);
  assert.deepEqual(
    model.requests.map((request) => request.tools.length),
    [4, 1],
  );
});

test('M3 max_tokens: goes on once, joins the parts, and never runs a tool of a cut answer', async () => {
  const { result, log, model } = await run([
    { text: 'The first half', calls: [{ name: 'write' }], stopReason: 'max_tokens' },
    { text: ' and the second.' },
  ]);
  assert.deepEqual([result.status, result.text], ['ok', 'The first half and the second.']);
  assert.ok(!log.some((line) => line.startsWith('call ')));
  const [, second] = model.requests;
  assert.deepEqual(second?.messages[1], {
    role: 'assistant',
    content: [{ type: 'text', text: 'The first half', citations: null }],
  });
  assert.match(JSON.stringify(second.messages[2]), /<host>.*Go on exactly where it stopped/);
});

test('M3 max_tokens twice: says that the answer was cut', async () => {
  const { result } = await run([
    { text: 'one ', stopReason: 'max_tokens' },
    { text: 'two', stopReason: 'max_tokens' },
  ]);
  assert.equal(result.status, 'partial');
  assert.match(result.text, /^one two\n\n\(The answer was cut off here/);
});

test('M3 pause_turn: what was said goes back as it is, and the turn goes on', async () => {
  const paused = {
    type: 'server_tool_use',
    id: 'srv_1',
    name: 'web_search',
    input: {},
  } as Anthropic.ContentBlock;
  const { result, model } = await run([
    { text: 'Part one,', blocks: [paused], stopReason: 'pause_turn' },
    { text: ' part two.' },
  ]);
  assert.equal(result.text, 'Part one, part two.');
  const last = model.requests[1]?.messages.at(-1);
  assert.equal(last?.role, 'assistant');
  assert.deepEqual(last.content, [paused, { type: 'text', text: 'Part one,', citations: null }]);
});

test('M3 refusal: a plain sentence, and the refused turn is not sent again', async () => {
  const { result, stored } = await run([{ text: 'I can', stopReason: 'refusal' }]);
  assert.deepEqual([result.status, result.code, result.passing], ['error', 'MODEL_ERROR', false]);
  assert.match(result.text, /declined/);
  const next = { ...question, content: 'Something else.' };
  const { model } = await run(['fine'], { entries: [question, ...stored, next] });
  const sent = JSON.stringify(model.requests[0]?.messages);
  assert.doesNotMatch(sent, /What is it|I can/);
  assert.match(sent, /declined the request that stood here/);
});

test('M3 model_context_window_exceeded: an error that says so, with no stub of an answer', async () => {
  const { result } = await run([{ text: 'half', stopReason: 'model_context_window_exceeded' }]);
  assert.equal(result.code, 'MODEL_ERROR');
  assert.match(result.text, /too long/);
});

test('M3 stop_sequence ends a turn as end_turn does', async () => {
  const { result } = await run([{ text: 'until here', stopReason: 'stop_sequence' }]);
  assert.deepEqual([result.status, result.text], ['ok', 'until here']);
});

for (const stopReason of ['end_turn', 'stop_sequence', 'pause_turn', 'tool_calls', ''] as const)
  test(`M19 a whole call is made, though the answer says "${stopReason}"`, async () => {
    const { result, log, stored } = await run([
      { text: 'done', calls: [{ name: 'write' }], stopReason: stopReason as 'end_turn' },
      { text: 'written', stopReason: 'end_turn' },
    ]);
    assert.deepEqual([result.status, result.text], ['ok', 'written']);
    assert.ok(log.some((line) => line.startsWith('call ')));
    assert.ok(stored[0]?.kind === 'assistant' && stored[0].stopReason === 'tool_use');
  });

test('M19 what is called tool_use and calls nothing is an answer; a cut or refused one calls nothing', async () => {
  const { result } = await run([{ text: 'done', stopReason: 'tool_use' }]);
  assert.deepEqual([result.status, result.text], ['ok', 'done']);
  const cut = { text: 'half', calls: [{ name: 'write' }], stopReason: 'max_tokens' } as const;
  const { log } = await run([cut, { ...cut, text: ' more' }]);
  assert.ok(!log.some((line) => line.startsWith('call ')));
  const refused = await run([{ ...cut, stopReason: 'refusal' }]);
  assert.ok(!refused.log.some((line) => line.startsWith('call ')));
});

test('U5 at max_iterations one more call without tools sums up: partial, text so far kept', async () => {
  const { result, model, stored } = await run(
    [
      { text: 'First I look.', calls: [{ name: 'look' }] },
      { text: 'Then I search.', calls: [{ name: 'search' }] },
      { text: 'All I know is this.' },
    ],
    { maxIterations: 2 },
  );
  assert.deepEqual([result.status, result.code, result.iterations], ['partial', 'MAX_ITERATIONS', 2]);
  assert.equal(result.text, 'First I look.\n\nThen I search.\n\nAll I know is this.');
  assert.deepEqual(
    model.requests.map((request) => request.tools.length),
    [4, 4, 0],
  );
  assert.match(JSON.stringify(model.requests[2]?.messages.at(-1)), /search done.*used all the steps/);
  const again = await run([], { entries: [question, ...stored], maxIterations: 2 });
  assert.deepEqual(again.result, result);
});

test('U5 a summing-up that fails still keeps the text so far', async () => {
  const down = new ModelError('down', { sentence: 'Away.', passing: true });
  const { result } = await run([{ text: 'I look.', calls: [{ name: 'look' }] }, down], {
    maxIterations: 1,
  });
  assert.deepEqual([result.status, result.code, result.text], ['partial', 'MAX_ITERATIONS', 'I look.']);
});

test('U5 a timeout keeps the text so far, the unfinished answer included', async () => {
  const controller = new AbortController();
  const timeout = new DOMException('too long', 'TimeoutError');
  const { result } = await run(
    [
      { text: 'I look.', calls: [{ name: 'look' }] },
      { text: 'I begin to', hold: Promise.withResolvers<void>().promise },
    ],
    {
      signal: controller.signal,
      watcher: { onText: (text) => text === 'I begin to' && controller.abort(timeout) },
    },
  );
  assert.deepEqual([result.status, result.code], ['partial', 'TIMEOUT']);
  assert.equal(result.text, 'I look.\n\nI begin to');
});

for (const how of ['stop', 'shutdown'] as const)
  test(`U15 words that were shown before a ${how} ${how === 'stop' ? 'stay, marked as stopped, so that "go on" works' : 'are written again'}`, async () => {
    const controller = new AbortController();
    const hold = Promise.withResolvers<void>().promise;
    const { stored } = await run([{ text: 'First, boil', hold }], {
      signal: controller.signal,
      watcher: { onText: () => controller.abort(how === 'stop' ? undefined : shutdownReason()) },
    });
    if (how === 'shutdown') return assert.deepEqual(stored, []);
    const next = { ...question, item: 'next', content: 'Go on.' };
    const { model } = await run(['the water.'], { entries: [question, ...stored, next] });
    const messages = model.requests[0]?.messages ?? [];
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'user'],
    );
    assert.match(JSON.stringify(messages[1]), /First, boil/);
    assert.match(JSON.stringify(messages[2]), /stopped in the middle.*Go on\./);
  });

test('U5 a cancel is CANCELLED; the call under way is awaited, later ones do not start', async () => {
  const controller = new AbortController();
  const call: CallTool = async () => {
    controller.abort();
    return { content: 'ended in time', isError: false };
  };
  const { result, log } = await run(
    [{ text: 'I write.', calls: [{ name: 'write' }, { name: 'write' }] }],
    { signal: controller.signal },
    call,
  );
  assert.deepEqual([result.status, result.code, result.text], ['partial', 'CANCELLED', 'I write.']);
  assert.deepEqual(log, ['assistant', 'tool_started call_1', 'call call_1', 'tool_result call_1']);
});

test('Q5 what an aborted call answers is not kept where the call can be repeated', async () => {
  const controller = new AbortController();
  const call: CallTool = async () => {
    controller.abort();
    return { content: 'cancelled', isError: false };
  };
  const script = [{ calls: [{ name: 'put' }] }];
  const { result, stored } = await run(script, { signal: controller.signal }, call);
  assert.equal(result.code, 'CANCELLED');
  const { log } = await run(['done'], { entries: [question, ...stored] });
  assert.deepEqual(log.slice(0, 3), ['tool_started call_1', 'call call_1', 'tool_result call_1']);
});

test('Q13 a call that had not started when the process ended leaves no result: it is made again', async () => {
  const stopping = new AbortController();
  const stored: Entry[] = [];
  const result = await runLoop(
    {
      system: [],
      entries: [question],
      maxIterations: 5,
    },
    {
      model: scriptedModel([{ calls: [{ name: 'write' }] }]),
      tools: () => tools,
      // It still waited for a person.
      async callTool() {
        stopping.abort(shutdownReason());
        return { content: 'error CANCELLED: the call was stopped before it ended', isError: false };
      },
      append: async (entry) => void stored.push(entry),
      signal: stopping.signal,
      clock: systemClock,
    },
  );
  assert.equal(result.code, 'CANCELLED');
  assert.deepEqual(
    stored.map(({ kind }) => kind),
    ['assistant'],
  );
});

test('Q13 a call cut off by a shutdown ends the loop once the calls beside it have ended', async () => {
  const stored: Entry[] = [];
  const looked = Promise.withResolvers<void>();
  const loop = run(
    [{ calls: [{ name: 'look' }, { name: 'search' }] }],
    { append: async (entry) => void stored.push(entry) },
    async ({ name }) => {
      if (name === 'search') throw shutdownReason();
      await looked.promise;
      return { content: 'seen', isError: false };
    },
  );
  const ended = assert.rejects(loop, isShutdown);
  await new Promise(setImmediate);
  looked.resolve();
  await ended;
  assert.equal(stored.filter(({ kind }) => kind === 'tool_result').length, 1);
});

test('U5 a tool that ignores the abort does not hold the loop, and its outcome stays unknown', async () => {
  const controller = new AbortController();
  const graces: number[] = [];
  const clock = { now: () => 5, sleep: async (ms: number) => void graces.push(ms) };
  const call: CallTool = () => {
    controller.abort();
    return Promise.withResolvers<never>().promise;
  };
  const { result, log } = await run(
    [{ calls: [{ name: 'write' }] }],
    { signal: controller.signal, clock },
    call,
  );
  assert.deepEqual([result.status, result.code, result.text], ['error', 'CANCELLED', '']);
  assert.deepEqual(log.at(-1), 'call call_1');
  assert.deepEqual(graces, [2_000]);
});

test('T11 an abort before the first call is no error of the model', async () => {
  const { result, model } = await run([], { signal: AbortSignal.abort() });
  assert.deepEqual([result.status, result.code], ['error', 'CANCELLED']);
  assert.equal(model.requests.length, 0);
});

test('T11 a tool that failed is told to the model, and the turn goes on', async () => {
  const call: CallTool = async () => ({ content: 'error TOOL_FAILED: no such file', isError: true });
  const { result, model } = await run([{ calls: [{ name: 'look' }] }, 'I could not.'], {}, call);
  assert.equal(result.status, 'ok');
  assert.deepEqual(model.requests[1]?.messages.at(-1)?.content, [
    {
      type: 'tool_result',
      tool_use_id: 'call_1',
      content: 'error TOOL_FAILED: no such file',
      is_error: true,
    },
  ]);
});

test('U6 an empty final text is EMPTY_RESULT, never a silent success', async () => {
  for (const step of ['', ' \n ', { blocks: [] }]) {
    const { result } = await run([step]);
    assert.deepEqual([result.status, result.code, result.text], ['error', 'EMPTY_RESULT', '']);
  }
  const { result } = await run([{ text: 'I look.', calls: [{ name: 'look' }] }, '']);
  assert.equal(result.code, 'EMPTY_RESULT');
});

test('U6 a model failure is MODEL_ERROR with its sentence, and says whether it passes', async () => {
  for (const passing of [true, false]) {
    const { result } = await run([
      new ModelError('529 from the server', { sentence: 'It is away.', passing }),
    ]);
    assert.deepEqual(
      [result.status, result.code, result.text, result.passing],
      ['error', 'MODEL_ERROR', 'It is away.', passing],
    );
  }
});

test('a fault that is not the model’s travels on', async () => {
  await assert.rejects(run([new TypeError('a bug')]), /a bug/);
});

test('Q5 a turn that has its answer returns it without a model call', async () => {
  const entries = [question, answer('end_turn', { type: 'text', text: 'It is done.' })];
  const { result, model, stored } = await run([], { entries });
  assert.deepEqual([result.status, result.text, result.iterations], ['ok', 'It is done.', 1]);
  assert.deepEqual([model.requests, stored], [[], []]);
});

test('Q5 a finished call is not repeated, one that never started runs now', async () => {
  const entries: readonly Entry[] = [
    question,
    answer('tool_use', use('a', 'write'), use('b', 'write')),
    { kind: 'tool_started', toolUseId: 'a', at: 3 },
    { kind: 'tool_result', toolUseId: 'a', content: 'first', isError: false, at: 4 },
  ];
  const { log, model, result } = await run(['done'], { entries });
  equalData(log, ['tool_started b', 'call b', 'tool_result b', 'assistant']);
  equalData(model.requests[0]?.messages.at(-1)?.content, [
    { type: 'tool_result', tool_use_id: 'a', content: 'first' },
    { type: 'tool_result', tool_use_id: 'b', content: 'write done' },
  ]);
  assert.equal(result.iterations, 2);
});

test('Q5 a call that was under way is repeated only if it is idempotent or read-only', async () => {
  const entries: readonly Entry[] = [
    question,
    answer('tool_use', use('a', 'write'), use('b', 'put'), use('c', 'look'), use('d', 'unheard_of')),
    ...['a', 'b', 'c', 'd'].map((toolUseId): Entry => ({ kind: 'tool_started', toolUseId, at: 3 })),
  ];
  const { log, stored } = await run(['done'], { entries });
  assert.deepEqual(
    log.filter((line) => line.startsWith('call ')),
    ['call b', 'call c'],
  );
  const lost = stored.filter((entry) => entry.kind === 'tool_result' && entry.content === interrupted);
  assert.deepEqual(
    lost.map((entry) => entry.kind === 'tool_result' && entry.toolUseId),
    ['a', 'd'],
  );
});

test('Q5 whatever entry a crash came after, the resumed turn ends the same and no write is made twice', async () => {
  const script: readonly ModelStep[] = [
    { text: 'I write.', calls: [{ name: 'write' }, { name: 'put' }], tokens: { input: 1 } },
    { text: 'cut', stopReason: 'max_tokens' },
    { text: ' and whole', calls: [{ name: 'look' }] },
    { text: 'Done.' },
  ];
  const whole = await run(script);
  assert.equal(whole.result.text, 'Done.');
  for (let crash = 0; crash <= whole.stored.length; crash++) {
    const kept = whole.stored.slice(0, crash);
    const answered = kept.filter(({ kind }) => kind === 'assistant').length;
    const { result, log } = await run(script.slice(answered), { entries: [question, ...kept] });
    assert.deepEqual(result, whole.result, `after ${crash} entries`);
    const lastKept = kept.at(-1);
    const unsure = lastKept?.kind === 'tool_started' && lastKept.toolUseId === 'call_1';
    const begun = kept.some((entry) => entry.kind === 'tool_started' && entry.toolUseId === 'call_1');
    assert.equal(
      log.filter((line) => line === 'call call_1').length,
      begun || unsure ? 0 : 1,
      `after ${crash}`,
    );
  }
});

test('U14 iterations of an earlier part of the run count on from turnStart', async () => {
  const entries = [
    question,
    answer('end_turn', { type: 'text', text: 'Which one?' }),
    { ...question, content: 'The red one.' },
  ];
  const { result } = await run(['Red it is.'], { entries, turnStart: 0 });
  assert.deepEqual([result.text, result.iterations], ['Red it is.', 2]);
});

test('M1 ids that a local server gives twice are told apart', async () => {
  const { result, stored } = await run([
    { calls: [{ name: 'write', id: 'call_0' }] },
    {
      calls: [
        { name: 'write', id: 'call_0' },
        { name: 'write', id: 'call_0' },
      ],
    },
    'done',
  ]);
  assert.equal(result.status, 'ok');
  const results = stored.flatMap((entry) => (entry.kind === 'tool_result' ? [entry.toolUseId] : []));
  assert.deepEqual(results, ['call_0', 'call_0_2', 'call_0_3']);
});

test('U13 the number of the coming call is told before each call', async () => {
  const seen: number[] = [];
  await run([{ calls: [{ name: 'look' }] }, 'done'], {
    watcher: { onIteration: (iteration) => seen.push(iteration) },
  });
  assert.deepEqual(seen, [1, 2]);
});

test('U13 a minute without a word of the model is told, once a call', async () => {
  const clock = createManualClock();
  const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const told: number[] = [];
  const began = clock.now();
  const running = run(
    [
      { calls: [{ name: 'look' }], hold: held[0]?.promise },
      { text: 'done', hold: held[1]?.promise },
    ],
    { clock, watcher: { onSilence: () => told.push(clock.now() - began) } },
  );
  await clock.advance(59_999);
  assert.deepEqual(told, []);
  await clock.advance(600_000);
  assert.deepEqual(told, [60_000]);
  held[0]?.resolve();
  await clock.advance(59_999);
  held[1]?.resolve();
  assert.equal((await running).result.text, 'done');
  await clock.advance(600_000);
  assert.deepEqual(told, [60_000], 'nothing is told after the answer');
});

test('H11 U15 what comes between the final answer and a stop joins nothing: it waits for its own turn', async () => {
  const stopped = new AbortController();
  let joins = 0;
  const { result } = await run(['It is done.'], {
    signal: stopped.signal,
    append: async (entry) => {
      if (entry.kind === 'assistant') stopped.abort();
    },
    join: async (_, answered) => {
      if (answered) joins += 1;
      return undefined;
    },
  });
  assert.deepEqual([result.status, result.text, joins], ['ok', 'It is done.', 0]);
});

test('H11 an answer that failed takes no more words in, one that did not asks once', async () => {
  const asked: boolean[] = [];
  const join = async (_: unknown, answered: boolean) => {
    asked.push(answered);
    return undefined;
  };
  await run([new ModelError('529', { sentence: 'Busy.', passing: true, tooLong: false })], { join });
  await run([{ text: 'No.', stopReason: 'refusal' }], { join });
  assert.deepEqual(asked, [false, false]);
  await run(['It is done.'], { join });
  assert.deepEqual(asked.slice(2), [false, true]);
});
