import type { Anthropic } from '@anthropic-ai/sdk/index.js';
import { judgeFailure, toModelError, withRetries, type Sdk } from './anthropic-model-failure.ts';
import { createSilenceWatch, withinSilence } from './silence-watch.ts';
import { boundThinking, withCachePoints, type BoundRequest } from './anthropic-request.ts';
import { isClaude, claudeModel, type Effort } from '../../core/claude-models.ts';
import type { Model, ModelAnswer, ModelRequest, ModelSettings } from '../../core/model.ts';
import { stopReasonOf } from '../fit-history.ts';
import { estimateTokens } from '../plan-compaction.ts';
import { readModelAnswer, type ReadAnswer } from './read-answer.ts';
import { once } from '../../lib/async/mutex.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createRedactor } from '../../lib/redaction/redact.ts';

export type AnthropicModelSettings = Readonly<{
  alias: string;
  model: string;
  endpoint: Readonly<{
    /** Address of the server, without `/v1` at its end. */
    baseUrl: string;
    apiKey?: string;
    silenceMs?: number;
  }>;
  /** How many tokens one answer may have, thinking included. */
  maxTokens: number;
  contextWindow?: number;
  /** Whether it can read pictures and documents. */
  sees?: boolean;
  /** A word, or a budget of at least 1024 tokens. */
  thinking?: Thinking;
  effort?: Effort;
}>;

type Thinking = NonNullable<ModelSettings['thinking']>;

type Endpoint = AnthropicModelSettings['endpoint'];

/** Characters per token above which an answer is cut, because not every server obeys `max_tokens`. */
const longestToken = 10;
const leastCharacters = 40_000;
/**
 * Milliseconds until the head of an answer. Servers that do not stream first read the whole prompt. Node's client gives
 * up at 300 s.
 */
const headMs = 290_000;

type AnthropicModelDeps = Readonly<{ log: Log; clock: Clock; random?: () => number }>;

/**
 * Makes a model of the Messages API. It streams, caches prompts (M5), retries (M4), and understands servers that speak
 * the API imperfectly (M19). `onText` gets each text once, even if a stream is repeated. The SDK is loaded when it is
 * first needed.
 */
export function createAnthropicModel(settings: AnthropicModelSettings, deps: AnthropicModelDeps): Model {
  const { alias, model, endpoint, contextWindow, sees } = settings;
  const { log, clock, random = Math.random } = deps;
  const { bindsThinking = isClaude(model), tokenFactor = 1 } = claudeModel(model) ?? {};
  const redact = createRedactor(secretsOf(endpoint));
  let thinksFirst = false;
  const load = once(() => loadClient(endpoint, clock));

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
      const characters = Math.max(leastCharacters, body.max_tokens * longestToken);
      const onTextOf = shownOnce(onText);
      const attempt = async (): Promise<ModelAnswer> => {
        const limits = { characters, tags: !isClaude(model), inside: thinksFirst };
        const asked = clock.now();
        let firstChunkMs: number | undefined;
        const response = await client.messages.create({ ...body, stream: true }, { signal }).asResponse();
        const answer = await readModelAnswer(response, limits, {
          sdk,
          clock,
          signal,
          onChunk: () => void (firstChunkMs ??= clock.now() - asked),
          onText: onTextOf(),
        });
        // From now on this model's words are held back until its thinking ends.
        thinksFirst ||= answer.beganInside;
        return { ...toAnswer(answer, request, bound, settings), firstChunkMs };
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

async function loadClient(
  endpoint: Endpoint,
  clock: Clock,
): Promise<Readonly<{ sdk: Sdk; client: Anthropic }>> {
  // The CommonJS build loads 40 ms faster and saves 1 MB.
  const { Anthropic: sdk } = await import('@anthropic-ai/sdk/index.js');
  return { sdk, client: createClient(sdk, endpoint, clock) };
}

/** Makes an `onText` for each attempt. Only the first attempt with words is shown. */
function shownOnce(onText: ((text: string) => void) | undefined): () => (text: string) => void {
  let streamed = false;
  return () => {
    const silent = streamed;
    return (text) => {
      streamed = true;
      if (!silent) onText?.(text);
    };
  };
}

function createClient(sdk: Sdk, { baseUrl, apiKey, silenceMs }: Endpoint, clock: Clock): Anthropic {
  const watched = silenceMs === undefined ? undefined : createSilenceWatch(silenceMs, clock);
  return new sdk({
    baseURL: baseUrl,
    // Without a key the SDK would look for another one.
    apiKey: apiKey ?? 'none',
    defaultHeaders: apiKey === undefined ? { authorization: null } : undefined,
    maxRetries: 0,
    fetch:
      watched &&
      (async (url, init) => {
        const ask = (late: AbortSignal): Promise<Response> =>
          fetch(url, { ...init, signal: AbortSignal.any([late, ...(init?.signal ? [init.signal] : [])]) });
        return watched(await withinSilence(headMs, clock, ask));
      }),
    openTelemetry: false,
    logLevel: 'off',
  });
}

function toBody(
  { system: said, tools: given, toolChoice }: ModelRequest,
  bound: BoundRequest,
  { model, maxTokens, thinking, effort }: AnthropicModelSettings,
): Anthropic.MessageCreateParamsNonStreaming {
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

/** Makes the answer. Local servers leave fields out; tokens that they did not count are estimated. */
function toAnswer(
  { content, stopReason, cut, tokens, model }: ReadAnswer,
  request: ModelRequest,
  { bindingOf }: BoundRequest,
  { model: asked }: AnthropicModelSettings,
): ModelAnswer {
  const { cacheRead = 0, cacheWrite = 0 } = tokens;
  const counted = (tokens.input ?? 0) + cacheRead + cacheWrite > 0;
  const { system, messages, tools } = request;
  return {
    content,
    stopReason: cut ? 'max_tokens' : stopReasonOf(content, stopReason),
    tokens: {
      input: counted ? (tokens.input ?? 0) : estimateTokens([system, messages, tools]),
      output: tokens.output ?? estimateTokens(content),
      cacheRead,
      cacheWrite,
    },
    model: model ?? asked,
    binding: bindingOf(content),
  };
}

function secretsOf({ apiKey, baseUrl }: Endpoint): Parameters<typeof createRedactor>[0] {
  const password = URL.canParse(baseUrl) ? decodeURIComponent(new URL(baseUrl).password) : '';
  return [
    ...(apiKey === undefined ? [] : [{ name: 'api_key', value: apiKey }]),
    ...(password === '' ? [] : [{ name: 'base_url password', value: password }]),
  ];
}
