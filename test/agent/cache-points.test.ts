import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpModelAt } from '../support/model-at.ts';
import { withCachePoints } from '../../src/agent/models/anthropic-request.ts';
import { runLoop } from '../../src/agent/run-loop.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Entry } from '../../src/core/entry.ts';
import { readOnly } from '../../src/core/tool.ts';
import type { ServerStep } from '../servers/messages/answer.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

test('M5 breakpoints stand after the stable system part, tools before it, and on the last turns: four at most', () => {
  const text = (value: string) => ({ type: 'text' as const, text: value });
  const marked = withCachePoints({
    system: [text('stable'), text('changing')],
    tools: ['a', 'b'].map((name) => ({ name, input_schema: { type: 'object' as const } })),
    messages: ['1', '2', '3', '4', '5'].map((value, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: index === 4 ? value : [text('x'), text(value)],
    })),
  });
  const places = JSON.stringify(marked, (_key, value: unknown) => value);
  assert.equal(places.match(/cache_control/g)?.length, 4);
  assert.deepEqual(
    marked.tools.map((tool) => tool.cache_control !== undefined),
    [false, false],
  );
  assert.deepEqual(
    marked.system.map((block) => block.cache_control !== undefined),
    [true, false],
  );
  assert.match(
    JSON.stringify(marked.messages[2]?.content),
    /"x"},\{"type":"text","text":"3","cache_control"/,
  );
  assert.match(JSON.stringify(marked.messages[4]?.content), /"5","cache_control"/);
});

test('M5 on the second turn at least 90 % of the prefix are cache reads, and they are counted', async (t) => {
  const calls = Array.from({ length: 24 }, (_, index) => ({
    type: 'tool_use' as const,
    name: 'look',
    input: { index },
  }));
  const script: readonly ServerStep[] = [
    { content: calls },
    { content: [{ type: 'text', text: 'The first answer.' }] },
    { content: [{ type: 'text', text: 'The second answer.' }] },
  ];
  const server = await startMessagesServer({ script });
  t.after(() => server.close());
  const model = httpModelAt(
    {
      alias: 'default',
      model: 'claude-sonnet-5-5',
      maxTokens: 1_000,
      endpoint: { baseUrl: server.url, apiKey: 'k' },
    },
    { log: quiet, clock: systemClock },
  );
  const entries: Entry[] = [];
  const turn = (content: string) => {
    entries.push({ kind: 'user', content, at: systemClock.now() });
    return runLoop(
      {
        system: [
          { type: 'text', text: 'A stable part. '.repeat(500) },
          { type: 'text', text: 'You are in a direct message.' },
        ],
        entries,
        maxIterations: 5,
      },
      {
        model,
        tools: () => [
          {
            name: 'look',
            description: 'Looks. '.repeat(100),
            inputSchema: { type: 'object' },
            traits: readOnly,
          },
        ],
        callTool: async ({ id }, _, begin) => {
          await begin?.();
          return { content: `found by ${id}`, isError: false };
        },
        append: async (entry) => void entries.push(structuredClone(entry)),
        signal: new AbortController().signal,
        clock: systemClock,
      },
    );
  };
  const first = await turn('A first question.');
  assert.ok(first.tokens.cacheWrite > 1_024 && first.tokens.input < 100, JSON.stringify(first.tokens));
  const second = await turn('A second question.');
  const { input, cacheRead, cacheWrite } = second.tokens;
  const share = cacheRead / (input + cacheRead + cacheWrite);
  assert.ok(share >= 0.9, `${(share * 100).toFixed(1)} % cache reads: ${JSON.stringify(second.tokens)}`);
  assert.deepEqual(server.refused, []);
});
