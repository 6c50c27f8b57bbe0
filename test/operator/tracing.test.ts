import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/lib/clock.ts';
import { createSpanExport, type Span } from '../../src/operator/tracing/export-spans.ts';
import { openTracing, tracesUrl } from '../../src/operator/tracing/open-tracing.ts';
import { callSteps } from '../support/call-steps.ts';
import { quietLog } from '../support/quiet-log.ts';
import { startTraceCollector, type SeenSpan, type TraceCollector } from '../support/trace-collector.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const roll = { name: 'skills_run_script', input: { path: 'scripts/roll.sh', args: ['2d6'] } };

/**
 * Names and OTLP types by OpenTelemetry's conventions for generative AI, at their development stage of 2026:
 * https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-spans.md and gen-ai-agent-spans.md.
 */
const conventions: Readonly<Record<string, string>> = {
  'gen_ai.agent.name': 'stringValue',
  'gen_ai.conversation.id': 'stringValue',
  'gen_ai.operation.name': 'stringValue',
  'gen_ai.provider.name': 'stringValue',
  'gen_ai.request.model': 'stringValue',
  'gen_ai.request.stream': 'boolValue',
  'gen_ai.response.finish_reasons': 'arrayValue',
  'gen_ai.response.model': 'stringValue',
  'gen_ai.response.time_to_first_chunk': 'doubleValue',
  'gen_ai.tool.call.id': 'stringValue',
  'gen_ai.tool.name': 'stringValue',
  'gen_ai.tool.type': 'stringValue',
  'gen_ai.usage.cache_creation.input_tokens': 'intValue',
  'gen_ai.usage.cache_read.input_tokens': 'intValue',
  'gen_ai.usage.input_tokens': 'intValue',
  'gen_ai.usage.output_tokens': 'intValue',
};

function envOf({ url }: TraceCollector): Readonly<Record<string, string>> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20canary-token,x-team=bots',
    OTEL_SERVICE_NAME: 'test-bot',
  };
}

function byName(spans: readonly SeenSpan[], name: string): SeenSpan {
  const found = spans.find((span) => span.name === name);
  assert.ok(found, `${name} among ${spans.map((span) => span.name).join(', ')}`);
  return found;
}

test('L4 L19 a message is one trace: turn, model, the call of a skill, its run, its tools, the send', async (t) => {
  const collector = await startTraceCollector(t);
  const bot = await startWholeBot(t, {
    script: callSteps([roll], 'Rolled.'),
    toml: '[access]\ndm = "open"\n',
    env: envOf(collector),
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('/dice 2d6 canary-words');
  await ann.dm.nextMessage('Rolled.');
  await bot.bot.idle();
  await bot.bot.close();

  const { spans } = collector;
  const message = byName(spans, 'message telegram');
  assert.equal(message.parentSpanId, undefined);
  const trace = spans.filter(({ traceId }) => traceId === message.traceId);
  const parents = (span: SeenSpan): readonly string[] => {
    const parent = trace.find(({ spanId }) => spanId === span.parentSpanId);
    return parent === undefined ? [] : [parent.name, ...parents(parent)];
  };
  const turn = byName(trace, 'invoke_agent skillet');
  const script = byName(trace, 'execute_tool skills_run_script');
  assert.deepEqual(parents(script), [
    'invoke_agent dice',
    'execute_tool use_skill',
    'run dice',
    'execute_tool use_skill',
    'invoke_agent skillet',
    'message telegram',
  ]);
  assert.deepEqual(parents(byName(trace, 'send telegram')), ['message telegram']);
  const chats = trace.filter(({ name }) => name === 'chat claude-sonnet-5-5');
  assert.deepEqual(
    new Set(chats.map((chat) => parents(chat)[0])),
    new Set(['invoke_agent skillet', 'invoke_agent dice']),
  );
  for (const { attributes, startTimeUnixNano, endTimeUnixNano } of chats) {
    assert.equal(attributes['gen_ai.operation.name'], 'chat');
    assert.equal(attributes['gen_ai.request.model'], 'claude-sonnet-5-5');
    assert.equal(attributes['gen_ai.response.model'], 'claude-sonnet-5-5');
    // All input, as the conventions count it (L19).
    const [input, read, written] = [
      'input_tokens',
      'cache_read.input_tokens',
      'cache_creation.input_tokens',
    ].map((count) => Number(attributes[`gen_ai.usage.${count}`]));
    assert.ok(Number(input) > 0 && Number(input) >= (Number(read) || 0) + (Number(written) || 0));
    assert.equal(attributes['gen_ai.conversation.id'], turn.attributes['gen_ai.conversation.id']);
    assert.equal(String(attributes['gen_ai.request.stream']), 'true');
    const firstChunk = Number(attributes['gen_ai.response.time_to_first_chunk']) * 1_000;
    assert.ok(
      firstChunk >= 0 && firstChunk <= (Number(endTimeUnixNano) - Number(startTimeUnixNano)) / 1e6 + 1,
      `${firstChunk}`,
    );
  }
  for (const { types } of trace)
    for (const [name, type] of Object.entries(types))
      if (name.startsWith('gen_ai.')) assert.equal(type, conventions[name], name);
  const named = new Set(trace.flatMap(({ types }) => Object.keys(types)));
  assert.deepEqual(
    Object.keys(conventions).filter((name) => !named.has(name)),
    [],
  );
  assert.equal(script.attributes['gen_ai.tool.name'], 'skills_run_script');
  assert.equal(turn.attributes['skillet.resumed'], false);
  assert.equal(turn.service, 'test-bot');
  for (const { startTimeUnixNano, endTimeUnixNano } of trace)
    assert.ok(BigInt(startTimeUnixNano) <= BigInt(endTimeUnixNano));

  // Nothing that was said, nobody's id, no credential.
  assert.equal(collector.headers[0]?.['authorization'], 'Bearer canary-token');
  assert.equal(collector.headers[0]?.['x-team'], 'bots');
  // Ids are random: `2d6` may be in one.
  const all = collector.bodies.join('\n').replace(/"(?:[0-9a-f]{16}|[0-9a-f]{32})"/g, '""');
  for (const secret of ['canary', 'Rolled', '2d6', String(ann.id), 'Ann', 'test-key', bot.telegram.token])
    assert.equal(all.includes(secret), false, secret);
});

test('L4 Q5 a turn that is taken again after a restart is another span of the same trace, and says so', async (t) => {
  const collector = await startTraceCollector(t);
  const asked = Promise.withResolvers<void>();
  const never = Promise.withResolvers<void>();
  t.after(() => never.resolve());
  let first = true;
  const bot = await startWholeBot(t, {
    script: () => {
      if (!first) return 'Late.';
      first = false;
      asked.resolve();
      return { content: [{ type: 'text', text: 'Early.' }], wire: { hold: never.promise, holdBefore: 0 } };
    },
    toml: '[access]\ndm = "open"\n[bot]\nshutdown_seconds = 1\n',
    env: envOf(collector),
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('hello');
  await asked.promise;
  const again = await bot.restart();
  await ann.dm.nextMessage('Late.');
  await again.bot.idle();
  await again.bot.close();
  const turns = collector.spans.filter(({ name }) => name === 'invoke_agent skillet');
  assert.deepEqual(
    turns.map(({ attributes }) => attributes['skillet.resumed']),
    [false, true],
  );
  assert.deepEqual(
    turns.map(({ status }) => status.code),
    [2, undefined],
  );
  assert.equal(new Set(turns.map(({ traceId }) => traceId)).size, 1);
  assert.equal(new Set(turns.map(({ spanId }) => spanId)).size, 2);
  const messages = collector.spans.filter(({ name }) => name === 'message telegram');
  assert.equal(messages.length, 1);
  for (const turn of turns) assert.equal(turn.parentSpanId, messages[0]?.spanId);
});

test('L4 a collector that is away costs no answer: it gets the spans later, and the log says it once', async (t) => {
  const collector = await startTraceCollector(t);
  const log = quietLog();
  const spans = createSpanExport({
    url: `${collector.url}/v1/traces`,
    headers: {},
    resource: { 'service.name': 'x' },
    version: '1',
    log,
  });
  collector.fail(1);
  for (let number = 1; number <= 600; number++) spans.add(spanOf(number));
  await log.line(({ message }) => message === 'the collector refuses traces');
  await spans.close();
  assert.equal(collector.spans.length, 600);
  assert.equal(new Set(collector.spans.map(({ spanId }) => spanId)).size, 600);
  assert.equal(log.lines.length, 1);
});

test('L4 what a collector refuses is not sent again, and what does not fit is dropped', async (t) => {
  const collector = await startTraceCollector(t);
  const log = quietLog();
  const options = { headers: {}, resource: {}, version: '1', log };
  const refused = createSpanExport({ ...options, url: `${collector.url}/elsewhere` });
  refused.add(spanOf(1));
  await refused.close();
  assert.deepEqual(
    log.lines.map(({ fields }) => fields['reason']),
    ['status 400'],
  );
  const full = createSpanExport({ ...options, url: `${collector.url}/v1/traces` });
  for (let number = 1; number <= 5_000; number++) full.add(spanOf(number));
  await full.close();
  assert.equal(collector.spans.length, 2_048);
});

test('L4 what is wrong with the variables of OpenTelemetry is said with the fix, a credential never', () => {
  const log = quietLog();
  const open = (env: Readonly<Record<string, string>>) => () => openTracing(env, { clock: systemClock, log });
  assert.throws(open({ OTEL_EXPORTER_OTLP_ENDPOINT: '127.0.0.1:4318' }), /no web address: write one such as/);
  const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=100%canary' };
  assert.throws(
    open({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', ...headers }),
    (error) => error instanceof Error && /write %25/.test(error.message) && !/canary/.test(error.message),
  );
});

test('L4 the address of the collector is what OpenTelemetry says', () => {
  const base = 'http://collector:4318';
  assert.equal(tracesUrl({ OTEL_EXPORTER_OTLP_ENDPOINT: base }), `${base}/v1/traces`);
  assert.equal(tracesUrl({ OTEL_EXPORTER_OTLP_ENDPOINT: `${base}/otlp/` }), `${base}/otlp/v1/traces`);
  const exact = { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${base}/here` };
  assert.equal(tracesUrl(exact), `${base}/here`);
});

function spanOf(number: number): Span {
  return {
    traceId: 'a'.repeat(32),
    spanId: number.toString(16).padStart(16, '0'),
    name: 'x',
    kind: 'internal',
    from: 1_700_000_000_000,
    to: 1_700_000_000_001.5,
    attributes: {},
  };
}
