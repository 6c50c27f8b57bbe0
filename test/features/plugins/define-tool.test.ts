import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type {
  Artifact,
  DeliveredArtifacts,
  DeliverArtifacts,
  Tool as HostTool,
} from '../../../src/core/tool.ts';
import { defineTool, type ToolOptions } from '../../../src/features/plugins/define-tool.ts';
import { riskOf } from '../../../src/tools/policy.ts';
import { openDoor } from '../../support/call-one-tool.ts';
import { equalData } from '../../support/equal-data.ts';
import { pluginContext } from '../../support/plugin-context.ts';

const plain = {
  name: 'get_weather',
  description: 'Tells the weather.',
  input: z.object({}),
  run: () => 'fine',
};

const context = pluginContext();

function bound(
  options: Parameters<typeof defineTool>[0],
  closed: () => void = () => undefined,
  over = new AbortController().signal,
): HostTool {
  return defineTool(options).bind(async () => ({ context, over, close: async () => closed() }));
}

async function answer(
  run: () => unknown,
  more: Partial<ToolOptions> = {},
  deliverArtifacts?: DeliverArtifacts,
) {
  const tool = bound({ ...plain, ...more, run });
  const door = openDoor([tool], { deliverArtifacts });
  return door({ id: 'toolu_1', name: tool.name, input: {} }, new AbortController().signal);
}

test('X2 what an author leaves out: shown by its name in words, 0.1.0, general, and taken for something with side effects', () => {
  const { about, traits, settings, ...tool } = bound(plain);
  equalData(about, {
    displayName: 'Get Weather',
    category: 'general',
    tags: [],
    version: '0.1.0',
    hidden: false,
  });
  assert.deepEqual(traits, {
    sideEffects: true,
    idempotent: false,
    requiresNetwork: false,
    requiresFilesystem: false,
  });
  assert.equal(settings, undefined);
  assert.equal(riskOf({ ...tool, traits }), 'moderate');
});

test('X2 all options reach the bot: how it is shown, its settings, its schema with what its fields say', () => {
  const tool = bound({
    ...plain,
    input: z.object({ city: z.string().describe('Where.') }),
    output: z.string(),
    settings: z.object({ units: z.enum(['metric', 'imperial']).default('metric') }),
    displayName: 'Weather',
    icon: '🌦',
    category: 'outside',
    tags: ['sky'],
    version: '2.1.0',
    hidden: true,
    sideEffects: false,
    idempotent: true,
    requiresNetwork: true,
    requiresFilesystem: true,
  });
  assert.deepEqual(tool.about, {
    displayName: 'Weather',
    icon: '🌦',
    category: 'outside',
    tags: ['sky'],
    version: '2.1.0',
    hidden: true,
  });
  assert.deepEqual(
    tool.settings?.fields.map(({ key, kind }) => [key, kind]),
    [['units', 'select']],
  );
  assert.deepEqual(tool.inputSchema['properties'], { city: { type: 'string', description: 'Where.' } });
  assert.deepEqual(tool.traits, {
    sideEffects: false,
    idempotent: true,
    requiresNetwork: true,
    requiresFilesystem: true,
  });
});

test('X2 T7 risk: what is declared counts, and auto is worked out', () => {
  const risk = (more: Partial<ToolOptions>) => riskOf(bound({ ...plain, ...more }));
  assert.equal(risk({ sideEffects: false, requiresNetwork: true, requiresFilesystem: true }), 'safe');
  assert.equal(risk({ sideEffects: false }), 'safe');
  assert.equal(risk({ sideEffects: true }), 'moderate');
  assert.equal(risk({ sideEffects: true, requiresNetwork: true }), 'dangerous');
  assert.equal(risk({ sideEffects: true, requiresFilesystem: true, risk: 'auto' }), 'dangerous');
  assert.equal(risk({ sideEffects: false, risk: 'critical' }), 'critical');
  assert.equal(risk({ sideEffects: true, requiresNetwork: true, risk: 'safe' }), 'safe');
});

test('X2 X6 options that cannot be used are refused with the name of the tool and what to write', () => {
  const wrong = (more: object) => () => defineTool({ ...plain, ...more });
  assert.throws(wrong({ name: 'Get-Weather' }), /the tool Get-Weather can't be used: .*write lower-case/s);
  assert.throws(wrong({ name: 'mcp_x' }), /mcp_ is for tools of MCP servers/);
  assert.throws(wrong({ description: ' ' }), /say what it does/);
  assert.throws(wrong({ input: z.string() }), /make it with z\.object of zod 4/);
  assert.throws(wrong({ input: { _def: {}, parse: () => ({}) } }), /zod 4/, 'as zod 3 makes it');
  assert.throws(wrong({ input: z.object({ at: z.date() }) }), /the tool get_weather .*Date/);
  assert.throws(wrong({ settings: z.object({ at: z.object({}) }) }), /the tool get_weather .*setting at/);
  assert.throws(wrong({ run: 'x' }), /write a function/);
  assert.throws(wrong({ risk: 'none' }), /risk/);
  assert.throws(wrong({ sideEffect: false }), /sideEffect/, 'a key that is misspelt would leave the default');
});

test('X2 the types: input, settings and output of run follow from the schemas', () => {
  defineTool({
    ...plain,
    input: z.object({ days: z.int().default(3) }),
    output: z.object({ sum: z.number() }),
    settings: z.object({ units: z.enum(['metric', 'imperial']).default('metric') }),
    run({ days }, { settings }) {
      const count: number = days;
      const units: 'metric' | 'imperial' = settings.units;
      return { sum: count + units.length };
    },
  });
  // @ts-expect-error what the schema has no such field for
  defineTool({ ...plain, input: z.object({ city: z.string() }), run: ({ days }) => String(days) });
  // @ts-expect-error an answer that the output schema refuses
  defineTool({ ...plain, output: z.object({ sum: z.number() }), run: () => ({ sum: 'three' }) });
  const settings = z.object({ a: z.string() });
  // @ts-expect-error a setting that there is none of
  defineTool({ ...plain, settings, run: (_, { settings }) => String(settings.units) });
  const withFile = defineTool({
    ...plain,
    output: z.object({ sum: z.number() }),
    run: () => ({ artifacts: [{ name: 'a.txt', data: 'x' }], data: { sum: 3 } }),
  });
  assert.equal(withFile.name, 'get_weather');
});

test('X5 text is given as it is, data as JSON, nothing as a word that it is done', async () => {
  assert.equal((await answer(() => 'sunny')).content, 'sunny');
  assert.deepEqual(JSON.parse((await answer(async () => ({ wind: [3, null] }))).content), {
    wind: [3, null],
  });
  assert.equal((await answer(() => [1, 2])).content, '[\n 1,\n 2\n]');
  assert.equal((await answer(() => 0)).content, '0');
  assert.equal((await answer(() => false)).content, 'false');
  assert.equal((await answer(() => null)).content, 'null');
  assert.match((await answer(() => undefined)).content, /^Done/);
  assert.match((await answer(() => '')).content, /^Done/);
  assert.equal(
    (await answer(() => ({ of: new Map([['a', new Set([1])]]) }))).content,
    '{\n "of": {\n  "a": [\n   1\n  ]\n }\n}',
  );
  assert.equal(
    (await answer(() => ({ artifacts: 3 }))).content,
    '{\n "artifacts": 3\n}',
    'plain data after all',
  );
});

test('X5 T12 artifacts are handed over in their order and noted; the first that can not be sent is the answer', async () => {
  const handed: Artifact[] = [];
  const deliverArtifacts: DeliverArtifacts = async (artifacts, { index }) => {
    const outcomes: DeliveredArtifacts[] = [];
    for (const artifact of artifacts) {
      handed.push(artifact);
      const size = index + outcomes.length;
      const isHuge = artifact.name === 'huge';
      if (isHuge) return [...outcomes, { ok: false, code: 'FILE_TOO_LARGE', problem: 'huge is too large' }];
      outcomes.push({ ok: true, name: artifact.name, mime: 'text/plain', size });
    }
    return outcomes;
  };
  const file = (name: string) => ({ name, mime: 'text/plain', data: new Uint8Array([1]) });
  const two = await answer(
    () => ({ artifacts: [file('a'), file('b')], data: { n: 2 } }),
    {},
    deliverArtifacts,
  );
  assert.equal(two.isError, false);
  assert.match(two.content, /"n": 2/);
  assert.deepEqual(
    two.artifacts?.map(({ name, size }) => [name, size]),
    [
      ['a', 0],
      ['b', 1],
    ],
  );
  handed.length = 0;
  const refused = await answer(() => ({ artifacts: [file('huge'), file('c')] }), {}, deliverArtifacts);
  assert.deepEqual([refused.isError, refused.content], [true, 'error FILE_TOO_LARGE: huge is too large']);
  assert.deepEqual(
    handed.map(({ name }) => name),
    ['huge'],
  );
  const page = { __artifact__: true, title: 'My/page', type: 'html', content: '<p>hi</p>', id: 'x' };
  handed.length = 0;
  const marked = await answer(() => page, {}, deliverArtifacts);
  assert.deepEqual(handed, [{ name: 'My page.html', data: '<p>hi</p>' }], 'the form of CachiBot');
  const fieldsOf = (content: string): unknown => JSON.parse(content.replace(/\n\[delivered[^]*/, ''));
  assert.deepEqual(fieldsOf(marked.content), { title: 'My/page', type: 'html', id: 'x' });
  assert.match(marked.content, /delivered to the conversation/);
  const shape = z.object({
    __artifact__: z.literal(true),
    id: z.string(),
    title: z.string(),
    content: z.string(),
  });
  const typed = await answer(() => ({ ...page, secret: 1 }), { output: shape }, deliverArtifacts);
  assert.deepEqual(fieldsOf(typed.content), { id: 'x', title: 'My/page' }, 'a schema of its shape fits');
  const wrong = await answer(() => ({ ...page, id: 7 }), { output: shape }, deliverArtifacts);
  assert.match(wrong.content, /TOOL_FAILED: .*its own output schema refuses.*id/s);
  const odd = await answer(() => ({ artifacts: [file('a'), 'secret bytes'] }), {}, deliverArtifacts);
  assert.match(odd.content, /TOOL_FAILED: .*artifacts that are none/);
  assert.doesNotMatch(odd.content, /secret bytes/);
  const none = await answer(() => ({ artifacts: [{ name: 'a', data: 3 }] }), {}, deliverArtifacts);
  assert.match(none.content, /TOOL_FAILED: .*artifacts that are none/);
});

test('X5 T11 an answer outside of its own output schema, or that JSON can not say, is a fault of the tool', async () => {
  const output = z.object({ sum: z.number() });
  const wrong = await answer(() => ({ sum: 'x' }), { output });
  assert.match(
    wrong.content,
    /^error TOOL_FAILED: get_weather failed: .*its own output schema refuses.*sum/s,
  );
  const more = await answer(() => ({ sum: 3, secret: 'x' }), { output });
  assert.deepEqual(JSON.parse(more.content), { sum: 3 }, 'only what the schema names');
  assert.match((await answer(() => () => 3)).content, /TOOL_FAILED: .*JSON can't say/);
  assert.match((await answer(() => 3n)).content, /TOOL_FAILED: .*BigInt/);
  const loop: { self?: object } = {};
  loop.self = loop;
  assert.match((await answer(() => loop)).content, /TOOL_FAILED: .*circular/);
});

test('X5 an answer too large for any model is refused before it is copied, with what to do instead', async () => {
  const looked: string[] = [];
  const output = z.any().refine(() => looked.push('by its schema'));
  const rows = Array.from({ length: 60_000 }, (_, id) => ({ id }));
  const tooMany = /^error TOOL_FAILED: get_weather failed: .*more than 100000 values: .*artifact/;
  assert.match((await answer(() => rows, { output })).content, tooMany);
  assert.match(
    (await answer(() => ({ data: new Set(rows.keys()), more: rows }), { output })).content,
    tooMany,
  );
  assert.match((await answer(() => ({ toJSON: () => rows }), { output })).content, tooMany);
  let shared: unknown = 'x';
  for (let level = 0; level < 40; level += 1) shared = [shared, shared];
  assert.match((await answer(() => shared, { output })).content, tooMany);
  const text = 'x'.repeat(6_000_000);
  const tooLong = /^error TOOL_FAILED: get_weather failed: .*more than 10000000 characters: .*artifact/;
  assert.match((await answer(() => [text, text], { output })).content, tooLong);
  assert.match((await answer(() => text + text, { output })).content, tooLong);
  assert.deepEqual(looked, []);
  assert.equal((await answer(() => rows.slice(0, 100), { output })).isError, false);
});

test('T11 X5 what a tool throws the model gets by its message, without a stack; what it took is given back', async () => {
  const closed: string[] = [];
  const tool = bound(
    {
      ...plain,
      run() {
        throw new Error('the service is closed until 9: try again then');
      },
    },
    () => closed.push('closed'),
  );
  const call = { id: 'toolu_1', name: tool.name, input: {} };
  const { content, isError } = await openDoor([tool])(call, new AbortController().signal);
  assert.equal(
    content,
    'error TOOL_FAILED: get_weather failed: the service is closed until 9: try again then',
  );
  assert.equal(isError, true);
  assert.deepEqual(closed, ['closed']);
});

test('T11 X4 a tool that does not heed its signal keeps nobody waiting, and cancelling is no error', async () => {
  const stop = new AbortController();
  const closed: string[] = [];
  const tool = bound({ ...plain, run: () => new Promise<string>(() => stop.abort()) }, () =>
    closed.push('closed'),
  );
  const { content, isError } = await openDoor([tool])(
    { id: 'toolu_1', name: tool.name, input: {} },
    stop.signal,
  );
  assert.match(content, /CANCELLED/);
  assert.equal(isError, false);
  assert.deepEqual(closed, ['closed']);
});

test('X5 a call that takes longer than any may is given up, and its tool is told by the signal', async () => {
  const over = new AbortController();
  const closed: string[] = [];
  const tool = bound(
    {
      ...plain,
      run: (_, { signal }) =>
        new Promise<string>(() => {
          signal.addEventListener('abort', () => closed.push('told'));
          over.abort();
        }),
    },
    () => closed.push('closed'),
    over.signal,
  );
  const call = { id: 'toolu_1', name: tool.name, input: {} };
  const { content, isError } = await openDoor([tool])(call, new AbortController().signal);
  assert.match(content, /^error TIMEOUT: get_weather took too long/);
  assert.equal(isError, true);
  assert.deepEqual(closed, ['told', 'closed']);
});

test('X4 T12 what a tool says of its progress is shown on one line, and it gets the signal of its call', async () => {
  const said: string[] = [];
  const stop = new AbortController();
  const signals: AbortSignal[] = [];
  const tool = bound({
    ...plain,
    run(_, call) {
      call.progress('reading\n3 pages');
      signals.push(call.signal);
      return 'read';
    },
  });
  const door = openDoor([tool], { onProgress: (line) => said.push(line) });
  const { content } = await door({ id: 'toolu_1', name: tool.name, input: {} }, stop.signal);
  assert.deepEqual([said, content], [['using get weather', 'reading 3 pages'], 'read']);
  assert.equal(signals[0]?.aborted, false);
  stop.abort();
  assert.equal(signals[0]?.aborted, true);
});
