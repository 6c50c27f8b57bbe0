import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { httpModelAt } from '../support/model-at.ts';
import { runLoop } from '../../src/agent/run-loop.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { unparsedInput, type Entry } from '../../src/core/entry.ts';
import { readOnly } from '../../src/core/tool.ts';
import type { ServerStep } from '../servers/messages/answer.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const clock = { now: systemClock.now, sleep: async () => {} };

async function run(
  t: TestContext,
  script: readonly ServerStep[],
  maxIterations = 5,
  stop?: Readonly<{ controller: AbortController; when: string }>,
) {
  const server = await startMessagesServer({ script, wire: { chunkBytes: 40 } });
  t.after(() => server.close());
  const entries: Entry[] = [{ kind: 'user', content: 'Look.', at: 1 }];
  const seen = { calls: [] as unknown[], text: '' };
  const result = await runLoop(
    {
      system: [{ type: 'text', text: 'You are a test.' }],
      entries,
      maxIterations,
    },
    {
      model: httpModelAt(
        {
          alias: 'default',
          model: 'claude-sonnet-5-5',
          maxTokens: 1_000,
          thinking: 'between_tools',
          endpoint: { baseUrl: server.url, apiKey: 'k' },
        },
        { log: quiet, clock },
      ),
      tools: () => [
        { name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, traits: readOnly },
      ],
      async callTool({ input }) {
        seen.calls.push(input);
        return { content: 'seen', isError: false };
      },
      // What is stored is read back, as after a restart.
      append: async (entry) => void entries.push(JSON.parse(JSON.stringify(entry)) as Entry),
      signal: stop?.controller.signal ?? new AbortController().signal,
      clock: systemClock,
      watcher: {
        onText(text) {
          seen.text += text;
          if (seen.text === stop?.when) stop.controller.abort();
        },
      },
    },
  );
  assert.deepEqual(server.refused, []);
  return { result, server, entries, ...seen };
}

const look = (place: string) => ({ type: 'tool_use' as const, name: 'look', input: { place } });
const text = (value: string) => ({ type: 'text' as const, text: value });

test('M3 thinking goes back unchanged and signed, with all results of side-by-side calls in one message', async (t) => {
  const { result, server, calls } = await run(t, [
    {
      content: [
        { type: 'thinking', thinking: 'Where to look?' },
        text('I look.'),
        look('left'),
        look('rechts ↔'),
      ],
    },
    { content: [text('Nothing there.')] },
  ]);
  assert.equal(result.text, 'Nothing there.');
  assert.deepEqual(calls, [{ place: 'left' }, { place: 'rechts ↔' }]);
  const [, answer, results] = server.requests[1]?.body.messages ?? [];
  assert.match(JSON.stringify(answer?.content), /"thinking":"Where to look\?","signature":"signature_\d+"/);
  assert.equal(results?.content.length, 2);
});

test('M3 an answer cut inside a tool call runs nothing and is gone on with', async (t) => {
  const { result, calls } = await run(t, [
    { content: [text('I look '), look('left')], stopReason: 'max_tokens' },
    { content: [text('no further.')] },
  ]);
  assert.deepEqual([result.status, result.text], ['ok', 'I look no further.']);
  assert.deepEqual(calls, []);
});

test('M3 every stop reason of the API ends or goes on as meant, over the wire', async (t) => {
  const first = async (
    stopReason: Extract<Exclude<ServerStep, string>, { content: unknown }>['stopReason'],
  ) => {
    const search = { type: 'server_tool_use' as const, name: 'web_search', input: {} };
    const content = stopReason === 'pause_turn' ? [text('One'), search] : [text('One')];
    const { result } = await run(t, [
      { content, ...(stopReason && { stopReason }) },
      { content: [text(' two')] },
    ]);
    return `${result.status} ${result.code ?? ''} ${result.text}`;
  };
  assert.equal(await first('end_turn'), 'ok  One');
  assert.equal(await first('stop_sequence'), 'ok  One');
  assert.equal(await first('max_tokens'), 'ok  One two');
  assert.equal(await first('pause_turn'), 'ok  One two');
  assert.match(await first('refusal'), /^error MODEL_ERROR .*declined/);
  assert.match(await first('model_context_window_exceeded'), /^error MODEL_ERROR .*too long/);
});

test('M3 M9 a prompt that the API refuses as too long, or that fills the window, is compacted and sent once more', async (t) => {
  const found = (place: string) => ({ content: [text(`I look ${place}.`), look(place)] });
  const refused = { status: 400, message: 'prompt is too long: 210251 tokens > 200000 maximum' };
  const exceeded = { content: [text('half')], stopReason: 'model_context_window_exceeded' as const };
  for (const step of [refused, exceeded]) {
    const script = [found('left'), found('right'), step, 'Summary: nothing left.', 'Nothing there.'];
    const { result, server, calls } = await run(t, script);
    assert.deepEqual([result.status, result.text], ['ok', 'Nothing there.']);
    assert.deepEqual(calls, [{ place: 'left' }, { place: 'right' }]);
    assert.equal(server.requests[3]?.body.tools, undefined);
    assert.match(JSON.stringify(server.requests[4]?.body.messages), /Summary: nothing left.*Look\./);
    const twice = await run(t, [...script.slice(0, 4), step]);
    assert.match(twice.result.text, /too long/);
    assert.equal(twice.calls.length, 2);
  }
});

test('U5 M13 in the summing-up call over the wire the tools stay, and none may be called', async (t) => {
  const { result, server } = await run(
    t,
    [{ content: [look('left')] }, { content: [text('That is all.')] }],
    1,
  );
  assert.deepEqual([result.code, result.text], ['MAX_ITERATIONS', 'That is all.']);
  assert.deepEqual(server.requests[1]?.body.tools, server.requests[0]?.body.tools);
  assert.deepEqual(server.requests[1]?.body.tool_choice, { type: 'none' });
});

test('M3 a slow drip is streamed as it comes, and a stop in its middle keeps what came', async (t) => {
  const controller = new AbortController();
  const never = Promise.withResolvers<void>();
  t.after(() => never.resolve());
  const wire = { dripMs: 1, hold: never.promise };
  const script = [{ content: [text('word by word')], wire }];
  const { result, text: streamed } = await run(t, script, 5, { controller, when: 'word by word' });
  assert.deepEqual([result.status, result.code, result.text], ['partial', 'CANCELLED', 'word by word']);
  assert.equal(streamed, 'word by word');
});

test('M4 U6 a model that always writes arguments that are no JSON is told each time, and answers in the end', async (t) => {
  const broken = { content: [{ ...look('left'), json: '{"place": left}' }] };
  const { result, server, calls } = await run(
    t,
    [broken, broken, { content: [text('I could not look.')] }],
    3,
  );
  assert.equal(result.text, 'I could not look.');
  assert.deepEqual(calls, [unparsedInput('{"place": left}'), unparsedInput('{"place": left}')]);
  assert.equal(server.requests.length, 3);
});
