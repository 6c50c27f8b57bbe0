import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomBytes } from 'node:crypto';
import type { ModelApi } from '../../core/model.ts';
import type { CallTool } from '../../core/tool-call.ts';
import type { Tool } from '../../core/tool.ts';
import { wasStarted } from '../../conversations/inbox-worker.ts';
import type { Clock } from '../../lib/clock.ts';
import type { InboxItem } from '../../store/inbox.ts';
import type { Outbox } from '../../store/outbox.ts';
import type { Attributes, Span, SpanExport } from './export-spans.ts';
import type { Tracing } from './tracing.ts';

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

/** Traces by spans, which `spans` sends. */
export function createTracing(spans: SpanExport, clock: Clock): Tracing {
  const current = new AsyncLocalStorage<Place>();
  const calls = new Map<string, Place>();
  const inSpan = createInSpan(spans, clock, current);

  /** Traces the calls of a turn or run. Runs that these calls begin find their span by `transcript`. */
  function traced<Granted extends Readonly<{ callTool: CallTool; tools: readonly Tool[] }>>(
    granted: Granted,
    transcript: string | undefined,
  ): Granted {
    const callTool: CallTool = (call, signal, begin) => {
      return inSpan(callSpan(call, granted.tools), async (told) => {
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
      const { task, conversation } = item.message;
      const root = placeOf(item.key);
      const call = task?.kind === 'run' ? `${task.parent} ${task.toolUseId}` : undefined;
      const caller = call === undefined ? undefined : calls.get(call);
      await inSpan({ ...itemSpan(item), under: caller ?? root }, () => handle(item, signal));
      if (caller !== undefined) return;
      spans.add({
        ...root,
        name: `message ${conversation.channel}`,
        kind: 'consumer',
        from: item.acceptedAt,
        to: clock.now(),
        attributes: { 'skillet.channel': conversation.channel },
      });
    },
    model: createTraceModel(inSpan),
    runs: createTraceRuns(inSpan),
    turnCalls: (create) => async (input) => {
      // A run makes the turn's call once more, in a queue of its own.
      const isRun = input.message.task?.kind === 'run';
      return traced(await create(input), isRun ? undefined : input.transcript);
    },
    runCalls: (create) => async (input) => {
      const granted = await create(input);
      return granted.ok ? traced(granted, undefined) : granted;
    },
    outbox: (outbox) => traceOutbox(outbox, spans, clock),
    close: spans.close,
  };
}

/** How a turn, or a run in the background, is shown. */
function itemSpan(item: InboxItem): Started {
  const { queue, tries } = item;
  const { task, conversation } = item.message;
  return {
    name: task?.kind === 'run' ? `run ${task.skill}` : 'invoke_agent skillet',
    kind: 'internal',
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': task?.kind === 'run' ? task.skill : 'skillet',
      'gen_ai.conversation.id': pseudonym(queue.replace(/~.*/s, '')),
      'skillet.channel': conversation.channel,
      'skillet.failed_tries': tries,
      // Taken again after a crash or a restart, so an earlier span of this trace may be lost.
      'skillet.resumed': wasStarted(item) || tries > 0,
    },
  };
}

function callSpan({ name, id }: Parameters<CallTool>[0], tools: readonly Tool[]): Started {
  // Models invent names, which could be anything, so only known ones are shown.
  const isKnown = name === 'use_skill' || tools.some((known) => known.name === name);
  const tool = isKnown ? name : 'other';
  return {
    name: `execute_tool ${tool}`,
    kind: 'internal',
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': id,
      'gen_ai.tool.type': 'function',
    },
  };
}

/** Runs work as spans within `current`, which work inside them reads. */
function createInSpan(spans: SpanExport, clock: Clock, current: AsyncLocalStorage<Place>): InSpan {
  return async ({ name, kind, attributes, under = current.getStore() }, work) => {
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
}

/** Names by the conventions for generative AI. Servers of Chat Completions count as OpenAI's there. */
const providers: Readonly<Record<ModelApi, string>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  bedrock: 'aws.bedrock',
  vertex: 'gcp.vertex_ai',
};

function createTraceModel(inSpan: InSpan): Tracing['model'] {
  return (model, settings) => ({
    ...model,
    complete: (request, signal, onText) => {
      const id = settings?.model;
      const attributes = {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': settings === undefined ? 'skillet' : providers[settings.api ?? 'anthropic'],
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
  });
}

function createTraceRuns(inSpan: InSpan): Tracing['runs'] {
  return (run) =>
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
    };
}

function traceOutbox(outbox: Outbox, spans: SpanExport, clock: Clock): Outbox {
  const sendings = new Map<string, Readonly<{ from: number; channel: string }>>();
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
      if (row !== undefined) sendings.set(row.key, { from: clock.now(), channel: row.conversation.channel });
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
