import type { Anthropic } from '@anthropic-ai/sdk/index.js';
import type { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream.js';
import { judgeFailure, toModelError, withRetries, type Sdk } from './anthropic-model-failure.ts';
import { createSilenceWatch } from './silence-watch.ts';
import { boundThinking, withCachePoints, type BoundRequest } from './anthropic-request.ts';
import { isClaude, claudeModel, type Effort } from '../../core/claude-models.ts';
import type { Model, ModelAnswer, ModelRequest, ModelSettings } from '../../core/model.ts';
import { unparsedInput } from '../../core/entry.ts';
import { once } from '../../lib/async/mutex.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createRedactor } from '../../lib/redaction/redact.ts';

export type AnthropicModelSettings = Readonly<{
  alias: string;
  model: string;
  endpoint: Readonly<{
    /** Without `/v1`. */
    baseUrl: string;
    apiKey?: string;
    silenceMs?: number;
  }>;
  /** Tokens of one answer, thinking included. */
  maxTokens: number;
  contextWindow?: number;
  /** Pictures and documents. */
  sees?: boolean;
  /** A word, or at least 1024 tokens. */
  thinking?: Thinking;
  effort?: Effort;
}>;

type Thinking = NonNullable<ModelSettings['thinking']>;

type Endpoint = AnthropicModelSettings['endpoint'];

type AnthropicModelDeps = Readonly<{ log: Log; clock: Clock; random?: () => number }>;

/**
 * Streams, caches prompts (M5), retries (M4). `onText` gets text once, even if a stream is repeated. Loads the SDK
 * lazily.
 */
export function createAnthropicModel(settings: AnthropicModelSettings, deps: AnthropicModelDeps): Model {
  const { alias, model, endpoint, contextWindow, sees } = settings;
  const { log, clock, random = Math.random } = deps;
  const { bindsThinking = isClaude(model), tokenFactor = 1 } = claudeModel(model) ?? {};
  const redact = createRedactor(secretsOf(endpoint));
  const load = once(async () => {
    // CommonJS loads 40 ms faster and saves 1 MB.
    const { Anthropic: sdk } = await import('@anthropic-ai/sdk/index.js');
    return { sdk, client: createClient(sdk, endpoint, clock) };
  });

  return {
    alias,
    contextWindow,
    sees,
    tokenFactor,
    bindsThinking,
    async complete(request, signal, onText) {
      signal.throwIfAborted();
      const { sdk, client } = await load();
      const bound = boundThinking(request, { ...endpoint, model, bindsThinking });
      const body = toBody(request, bound, settings);
      let streamed = false;
      const attempt = async (): Promise<ModelAnswer> => {
        const silent = streamed;
        const stream = client.messages.stream(body, { signal });
        keepUnparsed(stream);
        stream.on('text', (text) => {
          streamed = true;
          if (!silent) onText?.(text);
        });
        return toAnswer(await stream.finalMessage(), bound);
      };
      try {
        return await withRetries(attempt, {
          judge: (error) => judgeFailure(error, sdk, clock.now()),
          onRetry: (error, waitMs) =>
            log.warn(
              { model: alias, waitMs, cause: redact(String(error)) },
              'the model failed; it is tried again',
            ),
          clock,
          signal,
          random,
        });
      } catch (error) {
        signal.throwIfAborted();
        const passing = judgeFailure(error, sdk, clock.now()).again;
        const failure = toModelError(error, { sdk, alias, passing, redact });
        log.error({ model: alias, passing, cause: failure.message }, 'the model gave no answer');
        throw failure;
      }
    },
  };
}

function createClient(sdk: Sdk, { baseUrl, apiKey, silenceMs }: Endpoint, clock: Clock): Anthropic {
  const watched = silenceMs === undefined ? undefined : createSilenceWatch(silenceMs, clock);
  return new sdk({
    baseURL: baseUrl,
    // Else the SDK finds another key.
    apiKey: apiKey ?? 'none',
    defaultHeaders: apiKey === undefined ? { authorization: null } : undefined,
    maxRetries: 0,
    fetch: watched && (async (url, init) => watched(await fetch(url, init))),
    openTelemetry: false,
    logLevel: 'off',
  });
}

function toBody(
  { system: said, tools: given, toolChoice }: ModelRequest,
  bound: BoundRequest,
  { model, maxTokens, thinking, effort }: AnthropicModelSettings,
): Anthropic.MessageStreamParams {
  const { system, messages, tools } = withCachePoints(
    { messages: bound.messages, system: said, tools: given },
    bound.known,
  );
  return {
    model,
    max_tokens: typeof thinking === 'number' ? Math.max(maxTokens, thinking + 1_024) : maxTokens,
    tools: tools.length === 0 ? undefined : [...tools],
    tool_choice: toolChoice === undefined || tools.length === 0 ? undefined : { type: toolChoice },
    system: system.length === 0 ? undefined : [...system],
    messages: [...messages],
    thinking: thinking === undefined ? undefined : toThinking(thinking),
    output_config: effort === undefined ? undefined : { effort },
  };
}

function toThinking(thinking: Thinking): Anthropic.ThinkingConfigParam {
  if (typeof thinking === 'number') return { type: 'enabled', budget_tokens: thinking };
  return { type: thinking === 'off' ? 'disabled' : thinking };
}

/** Local servers omit fields. */
function toAnswer(message: Anthropic.Message, { bindingOf }: BoundRequest): ModelAnswer {
  const { content, stop_reason: stopReason, usage, model } = message;
  const binding = bindingOf(content);
  return {
    content,
    stopReason: stopReason ?? 'end_turn',
    tokens: {
      input: usage.input_tokens ?? 0,
      output: usage.output_tokens ?? 0,
      cacheRead: usage.cache_read_input_tokens ?? 0,
      cacheWrite: usage.cache_creation_input_tokens ?? 0,
    },
    model,
    binding,
  };
}

function secretsOf({ apiKey, baseUrl }: Endpoint): Parameters<typeof createRedactor>[0] {
  const password = URL.canParse(baseUrl) ? decodeURIComponent(new URL(baseUrl).password) : '';
  return [
    ...(apiKey === undefined ? [] : [{ name: 'api_key', value: apiKey }]),
    ...(password === '' ? [] : [{ name: 'base_url password', value: password }]),
  ];
}

/** Invalid JSON arguments would make the SDK drop the whole answer; later only that call is refused. */
function keepUnparsed(stream: MessageStream): void {
  const written = new Map<number, string>();
  stream.on('streamEvent', (event, { content }) => {
    if (event.type !== 'content_block_delta' || event.delta.type !== 'input_json_delta') return;
    const { index } = event;
    written.set(index, (written.get(index) ?? '') + event.delta.partial_json);
    const block = content[index];
    const parse = block && Object.getOwnPropertyDescriptor(block, 'input')?.get;
    // The SDK parses lazily, at the end of the block.
    if (parse !== undefined)
      Object.defineProperty(block, 'input', {
        enumerable: true,
        configurable: true,
        get: () => parsed(parse, written.get(index) ?? ''),
      });
  });
}

function parsed(parse: () => unknown, text: string): unknown {
  try {
    const input = parse();
    return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : unparsedInput(text);
  } catch {
    return unparsedInput(text);
  }
}
