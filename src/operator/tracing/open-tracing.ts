import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomBytes } from 'node:crypto';
import { skilletVersion } from '../../core/version.ts';
import { OperatorError } from '../../core/errors.ts';
import type { CallTool } from '../../core/tool-call.ts';
import type { Tool } from '../../core/tool.ts';
import { wasStarted } from '../../conversations/inbox-worker.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createSpanExport, type Attributes, type Span, type SpanExport } from './export-spans.ts';
import type { Tracing } from './tracing.ts';

type Env = Readonly<Record<string, string | undefined>>;
type Place = Readonly<{
  traceId: string;
  spanId: string;
  conversation?: Attributes[string];
}>;
type Started = Pick<Span, 'name' | 'kind'> & Readonly<{ attributes: Attributes; under?: Place | undefined }>;
/** Runs work as a span. `told` adds what is known after the work. */
type InSpan = <T>(started: Started, work: (told: (more: Outcome) => void) => Promise<T>) => Promise<T>;
type Outcome = Readonly<{ attributes?: Attributes; error?: string | undefined }>;

/** How many calls are remembered whose runs may still begin. */
const mostCalls = 1_000;

/**
 * Sends traces to the collector that OpenTelemetry's environment variables name, as OTLP over HTTP in JSON. Throws
 * OperatorError if the address is none.
 */
export function openTracing(env: Env, { clock, log }: Readonly<{ clock: Clock; log: Log }>): Tracing {
  const { OTEL_SERVICE_NAME, OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_TRACES_HEADERS } = env;
  const url = tracesUrl(env);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new OperatorError(
      'OTEL_EXPORTER_OTLP_ENDPOINT is no web address: write one such as http://127.0.0.1:4318',
    );
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? env['OTEL_EXPORTER_OTLP_PROTOCOL'];
  if (protocol !== undefined && protocol !== 'http/json')
    log.warn({ protocol }, 'traces go as http/json, whatever OTEL_EXPORTER_OTLP_PROTOCOL says');
  const version = skilletVersion();
  const spans = createSpanExport({
    url,
    headers: headersOf(OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    resource: { 'service.name': OTEL_SERVICE_NAME ?? 'skillet', 'service.version': version },
    version,
    log,
  });
  log.info({ host: new URL(url).host }, 'traces are sent');
  return createTracing(spans, clock);
}

export function tracesUrl(env: Env): string {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: exact, OTEL_EXPORTER_OTLP_ENDPOINT: base = '' } = env;
  return exact ?? `${base.replace(/\/+$/, '')}/v1/traces`;
}

/** Reads `name=value,name=value`, percent-encoded. Throws OperatorError if a value can't be decoded. */
function headersOf(list: string): Readonly<Record<string, string>> {
  const pairs = list.split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      const value = pair.slice(at + 1).trim();
      return [pair.slice(0, at).trim(), decoded(value)];
    }),
  );
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // The value may be a credential, so it is not shown.
    throw new OperatorError("OTEL_EXPORTER_OTLP_HEADERS can't be read: write %25 where you mean a %");
  }
}

function createTracing(spans: SpanExport, clock: Clock): Tracing {
  const current = new AsyncLocalStorage<Place>();
  const calls = new Map<string, Place>();
  const sendings = new Map<string, Readonly<{ from: number; channel: string }>>();

  const inSpan: InSpan = async ({ name, kind, attributes, under = current.getStore() }, work) => {
    const conversation = attributes['gen_ai.conversation.id'] ?? under?.conversation;
    const place = { traceId: under?.traceId ?? hex(16), spanId: hex(8), conversation };
    const from = clock.now();
    let known: Outcome = {};
    const end = (error?: string): void =>
      spans.add({
        ...place,
        parentSpanId: under?.spanId,
        name,
        kind,
        from,
        to: clock.now(),
        attributes: { ...attributes, 'gen_ai.conversation.id': conversation, ...known.attributes },
        error: error ?? known.error,
      });
    try {
      const done = await current.run(place, () => work((more) => (known = more)));
      end();
      return done;
    } catch (error) {
      end(error instanceof Error ? error.name : 'error');
      throw error;
    }
  };

  /**
   * Traces the calls of a turn or run. `transcript` is where runs of these calls look up the span that they belong to.
   */
  function traced<Granted extends Readonly<{ callTool: CallTool; tools: readonly Tool[] }>>(
    granted: Granted,
    transcript: string | undefined,
  ): Granted {
    const callTool: CallTool = (call, signal, begin) => {
      // Models invent names, which could be anything, so only known ones are shown.
      const isKnown = call.name === 'use_skill' || granted.tools.some(({ name }) => name === call.name);
      const tool = isKnown ? call.name : 'other';
      const attributes = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool,
        'gen_ai.tool.call.id': call.id,
        'gen_ai.tool.type': 'function',
      };
      return inSpan({ name: `execute_tool ${tool}`, kind: 'internal', attributes }, async (told) => {
        const place = current.getStore();
        if (transcript !== undefined && place !== undefined) remember(`${transcript} ${call.id}`, place);
        const outcome = await granted.callTool(call, signal, begin);
        if (outcome.isError) told({ error: 'tool_error' });
        return outcome;
      });
    };
    return { ...granted, callTool };
  }

  function remember(call: string, place: Place): void {
    calls.set(call, place);
    for (const oldest of calls.keys()) if (calls.size > mostCalls) calls.delete(oldest);
  }

  return {
    items: (handle) => async (item, signal) => {
      const { message, key, queue, acceptedAt, tries } = item;
      const { task } = message;
      const root = placeOf(key);
      const call = task?.kind === 'run' ? `${task.parent} ${task.toolUseId}` : undefined;
      const caller = call === undefined ? undefined : calls.get(call);
      const channel = message.conversation.channel;
      const attributes = {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': task?.kind === 'run' ? task.skill : 'skillet',
        'gen_ai.conversation.id': pseudonym(queue.replace(/~.*/s, '')),
        'skillet.channel': channel,
        'skillet.failed_tries': tries,
        // Taken again after a crash or a restart, so an earlier span of this trace may be lost.
        'skillet.resumed': wasStarted(item) || tries > 0,
      };
      const name = task?.kind === 'run' ? `run ${task.skill}` : 'invoke_agent skillet';
      await inSpan({ name, kind: 'internal', attributes, under: caller ?? root }, () => handle(item, signal));
      if (caller !== undefined) return;
      spans.add({
        ...root,
        name: `message ${channel}`,
        kind: 'consumer',
        from: acceptedAt,
        to: clock.now(),
        attributes: { 'skillet.channel': channel },
      });
    },
    model: (model, id) => ({
      ...model,
      complete: (request, signal, onText) => {
        const attributes = {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': id === undefined ? 'skillet' : 'anthropic',
          'gen_ai.request.model': id,
          'gen_ai.request.stream': id === undefined ? undefined : true,
          'skillet.model.alias': model.alias,
        };
        return inSpan({ name: `chat ${id ?? model.alias}`, kind: 'client', attributes }, async (told) => {
          const answer = await model.complete(request, signal, onText);
          const { input, output, cacheRead, cacheWrite } = answer.tokens;
          told({
            attributes: {
              'gen_ai.response.model': answer.model,
              'gen_ai.response.finish_reasons': answer.stopReason === null ? undefined : [answer.stopReason],
              // The conventions count all input, including what came from the cache or went into it.
              'gen_ai.usage.input_tokens': input + cacheRead + cacheWrite,
              'gen_ai.response.time_to_first_chunk':
                answer.firstChunkMs === undefined ? undefined : { seconds: answer.firstChunkMs / 1_000 },
              'gen_ai.usage.output_tokens': output,
              'gen_ai.usage.cache_read.input_tokens': cacheRead,
              'gen_ai.usage.cache_creation.input_tokens': cacheWrite,
            },
          });
          return answer;
        });
      },
    }),
    runs:
      (run) =>
      (skill, ...rest) => {
        const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': skill.name };
        return inSpan({ name: `invoke_agent ${skill.name}`, kind: 'internal', attributes }, async (told) => {
          const result = await run(skill, ...rest);
          const { status, code, iterations } = result;
          told({
            attributes: { 'skillet.run.status': status, 'skillet.run.model_calls': iterations },
            error: status === 'error' ? (code ?? 'error') : undefined,
          });
          return result;
        });
      },
    turnCalls: (create) => async (input) => {
      // A run makes the turn's call once more, in a queue of its own.
      const isRun = input.message.task?.kind === 'run';
      return traced(await create(input), isRun ? undefined : input.transcript);
    },
    runCalls: (create) => async (input) => {
      const granted = await create(input);
      return granted.ok ? traced(granted, undefined) : granted;
    },
    outbox(outbox) {
      const end = (key: string, error?: string): void => {
        const [, answer = key] = /^(.*)#\d+$/s.exec(key) ?? [];
        const { traceId, spanId } = placeOf(answer);
        const { from, channel } = sendings.get(key) ?? { from: clock.now(), channel: 'unknown' };
        // A notice of the bot itself belongs to no message.
        const isAnswer = answer.startsWith(`${channel}:`) || answer.startsWith('task:');
        spans.add({
          traceId,
          spanId: hex(8),
          parentSpanId: isAnswer ? spanId : undefined,
          name: `send ${channel}`,
          kind: 'producer',
          from,
          to: clock.now(),
          attributes: { 'skillet.channel': channel },
          error,
        });
        sendings.delete(key);
      };
      return {
        ...outbox,
        async next(...of) {
          const row = await outbox.next(...of);
          if (row !== undefined)
            sendings.set(row.key, { from: clock.now(), channel: row.conversation.channel });
          return row;
        },
        async sent(key, receipt) {
          await outbox.sent(key, receipt);
          end(key);
        },
        async retry(key, reason, at) {
          await outbox.retry(key, reason, at);
          end(key, 'retried');
        },
        async dead(key, reason) {
          await outbox.dead(key, reason);
          end(key, 'given_up');
        },
      };
    },
    close: spans.close,
  };
}

/**
 * The trace of a message. It is the same in each process and after each restart, however often the message is taken.
 */
function placeOf(key: string): Place {
  const hash = createHash('sha256').update(`trace of ${key}`).digest('hex');
  return { traceId: hash.slice(0, 32), spanId: hash.slice(32, 48) };
}

/** A pseudonym for a conversation, because ids of platforms identify people. */
function pseudonym(queue: string): string {
  return createHash('sha256').update(`conversation ${queue}`).digest('hex').slice(0, 16);
}

function hex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
