import { hash } from 'node:crypto';
import type Anthropic from '@anthropic-ai/sdk';
import { isRefusal, judgeFailure, toModelError } from './model-failure.ts';
import { withRetries } from './with-retries.ts';
import { createCacheRhythm, noteCache, type CacheRhythm } from './cache-rhythm.ts';
import { boundThinking, withCachePoints, type BoundRequest, type SentRequest } from './anthropic-request.ts';
import { serverSearch, withOwnBlocks } from './own-blocks.ts';
import {
  isClaude,
  claudeModel,
  effortLevels,
  type Effort,
  type WebSearchType,
} from '../../core/claude-models.ts';
import { addTokens, noTokens } from '../../core/model.ts';
import type {
  CacheTtl,
  Model,
  ModelAnswer,
  ModelApi,
  ModelRequest,
  ModelSettings,
} from '../../core/model.ts';
import { isServerTool, stopReasonOf } from '../fit-history.ts';
import { estimateTokens } from '../plan-compaction.ts';
import { sentTools, type ToolSearch } from '../tool-search.ts';
import { readModelAnswer, type AnswerForm, type AnswerLimits, type ReadAnswer } from './read-answer.ts';
import { createSilenceWatch, withinSilence } from './silence-watch.ts';
import { once } from '../../lib/async/mutex.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createRedactor } from '../../lib/redaction/redact.ts';

/** What is asked of a server, in the Messages API. Other APIs translate it. */
export type AskedBody = Anthropic.MessageCreateParamsNonStreaming;

/** Sends a request as a stream. Throws ServerFault unless there is an answer with status 200. */
export type Ask = (
  body: AskedBody,
  signal: AbortSignal,
) => Promise<Readonly<{ response: Response; form: AnswerForm }>>;

/** The fetch that a client is made with: it gives up on silent servers. */
export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Where a model is. `name` is the model's name there. */
export type Endpoint = Readonly<{
  name: string;
  /** Undefined: the usual address of this kind. */
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  region?: string | undefined;
  project?: string | undefined;
}>;

export type HttpModelSettings = Readonly<{
  alias: string;
  api: ModelApi;
  endpoint: Endpoint;
  /** Undefined: a server may be silent for as long as it likes. Milliseconds. */
  silenceMs?: number;
  /** How many tokens one answer may have, thinking included. */
  maxTokens: number;
  contextWindow?: number | undefined;
  /** Whether it can read pictures and documents. */
  sees?: boolean | undefined;
  /** A word, or a budget of at least 1024 tokens. */
  thinking?: ModelSettings['thinking'];
  effort?: ModelSettings['effort'];
  /** How long the cache keeps what is sent. Default: five minutes. */
  cache?: CacheTtl | undefined;
  /** How it is shown many tools. Default: all at once. */
  toolSearch?: ToolSearch;
  /** The tool by which the server searches the web. Undefined: it has none. */
  webSearch?: WebSearchType | undefined;
  /** Whether the server takes `diagnostics`, which say why a cache did not hold. */
  diagnoses?: boolean;
  /** The most that a skill may ask for. Undefined: what skills ask for does not count. */
  mostEffort?: Effort;
}>;

/** Characters per token above which an answer is cut, because not every server obeys `max_tokens`. */
const longestToken = 10;
const leastCharacters = 40_000;
/**
 * Milliseconds until the head of an answer. Servers that do not stream first read the whole prompt. Node's client gives
 * up at 300 s.
 */
const headMs = 290_000;

export type HttpModelDeps = Readonly<{
  /** Loads the client, when the first request is made. */
  connect(endpoint: Endpoint, watched: Fetch): Promise<Ask>;
  log: Log;
  clock: Clock;
  random?: () => number;
}>;

/**
 * Makes a model behind HTTP. It streams, caches prompts (M5), retries (M4), and understands servers that speak their API
 * imperfectly (M19). `onText` gets each text once, even if a stream is repeated.
 */
export function createHttpModel(settings: HttpModelSettings, deps: HttpModelDeps): Model {
  const { alias, api, endpoint, contextWindow, sees, silenceMs } = settings;
  const { connect, log, clock, random = Math.random } = deps;
  const { bindsThinking = isClaude(endpoint.name), tokenFactor = 1 } = claudeModel(endpoint.name) ?? {};
  const account = { ...endpoint, api, bindsThinking: bindsThinking && api !== 'openai' };
  const redact = createRedactor(secretsOf(endpoint));
  let thinksFirst = false;
  const load = once(() => connect(endpoint, watchedFetch(silenceMs, clock)));
  const rhythm = createCacheRhythm(settings.cache ?? '5m');

  return {
    alias,
    contextWindow,
    sees,
    tokenFactor,
    bindsThinking: account.bindsThinking,
    async complete(asked, signal, onText) {
      signal.throwIfAborted();
      const request = toSent(asked, settings);
      const bound = boundThinking(request, account);
      const start = rhythm.ask(digestOf(request), clock.now());
      const body = toBody(request, { bound, start }, settings);
      const onTextOf = shownOnce(onText);
      const attempt = async (): Promise<ModelAnswer> => {
        const ask = await load();
        const began = clock.now();
        let firstChunkMs: number | undefined;
        const { response, form } = await ask(body, signal);
        const answer = await readModelAnswer(response, limitsOf(body, thinksFirst), {
          form,
          clock,
          signal,
          onChunk: () => void (firstChunkMs ??= clock.now() - began),
          onText: onTextOf(),
        });
        // From now on this model's words are held back until its thinking ends.
        thinksFirst ||= answer.beganInside;
        noteCache(start, answer, { alias, log });
        return { ...toAnswer(answer, request, bound, settings), firstChunkMs };
      };
      const onRetry = (error: unknown, waitMs: number): void =>
        log.warn(
          { model: alias, waitMs, cause: redact(String(error)) },
          'the model failed; it is tried again',
        );
      const judge = (error: unknown) => judgeFailure(error, clock.now());
      try {
        return await withRetries(attempt, { judge, onRetry, clock, signal, random });
      } catch (error) {
        signal.throwIfAborted();
        if (isRefusal(error)) return refusedAnswer(request, settings);
        const passing = judge(error).again;
        const failure = toModelError(error, { alias, passing, redact });
        log.error({ model: alias, passing, cause: failure.message }, 'the model gave no answer');
        throw failure;
      }
    },
  };
}

function limitsOf({ model, max_tokens }: AskedBody, inside: boolean): AnswerLimits {
  const characters = Math.max(leastCharacters, max_tokens * longestToken);
  return { characters, tags: !isClaude(model), inside };
}

/** The request with the tools that this model is shown, and without what other servers did themselves. */
function toSent(request: ModelRequest, settings: HttpModelSettings): SentRequest {
  const { toolSearch = 'off', webSearch } = settings;
  const search = request.searchesWeb === true && webSearch !== undefined ? [serverSearch(webSearch)] : [];
  const tools = [...sentTools(request, toolSearch), ...search];
  return { ...request, tools, messages: withOwnBlocks(request.messages, tools, serverOf(settings)) };
}

/** Where blocks of a server's own tools may go back to. */
function serverOf({ api, endpoint: { baseUrl = '' } }: HttpModelSettings): string {
  return `${api} ${baseUrl}`;
}

/** The answer of a provider that declined a request before a model read it. */
function refusedAnswer(
  { system, messages, tools }: SentRequest,
  { endpoint }: HttpModelSettings,
): ModelAnswer {
  const tokens = { input: estimateTokens([system, messages, tools]), output: 0, cacheRead: 0, cacheWrite: 0 };
  return { content: [], stopReason: 'refusal', tokens, model: endpoint.name };
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

/** A fetch that ends with a SilentServer if no head comes, and breaks a stream that sends nothing for `silenceMs`. */
function watchedFetch(silenceMs: number | undefined, clock: Clock): Fetch {
  if (silenceMs === undefined) return fetch;
  const watched = createSilenceWatch(silenceMs, clock);
  return async (url, init) => {
    const ask = (late: AbortSignal): Promise<Response> =>
      fetch(url, { ...init, signal: AbortSignal.any([late, ...(init?.signal ? [init.signal] : [])]) });
    return watched(await withinSilence(headMs, clock, ask));
  };
}

function toBody(
  { system: said, tools: given, toolChoice, effort: asked }: SentRequest,
  { bound, start }: Readonly<{ bound: BoundRequest; start: ReturnType<CacheRhythm['ask']> }>,
  settings: HttpModelSettings,
): AskedBody {
  const { endpoint, maxTokens, thinking } = settings;
  const effort = effortFor(asked, settings);
  const { system, messages, tools } = withCachePoints(
    { messages: bound.messages, system: said, tools: given },
    bound.known,
    { start: start.ttl, messages: settings.cache === '1h' ? '1h' : '5m' },
  );
  return {
    model: endpoint.name,
    max_tokens: typeof thinking === 'number' ? Math.max(maxTokens, thinking + 1_024) : maxTokens,
    tools: tools.length === 0 ? undefined : [...tools],
    tool_choice: toolChoice === undefined || tools.length === 0 ? undefined : { type: toolChoice },
    system: system.length === 0 ? undefined : [...system],
    messages: [...messages],
    thinking: thinking === undefined ? undefined : toThinking(thinking),
    output_config: effort === undefined ? undefined : { effort },
    diagnostics: settings.diagnoses === true ? { previous_message_id: start.before ?? null } : undefined,
  };
}

/** What is the same in all requests that could share the start in a cache. */
function digestOf({ system, tools }: SentRequest): string {
  return hash('sha256', JSON.stringify([system[0], tools]));
}

/** What a skill asks for, within the operator's bound and what the model takes. */
function effortFor(
  asked: Effort | undefined,
  { endpoint, effort, mostEffort }: HttpModelSettings,
): Effort | undefined {
  if (asked === undefined || mostEffort === undefined) return effort;
  const most = effortLevels.indexOf(mostEffort);
  const within = effortLevels.indexOf(asked) > most ? mostEffort : asked;
  return claudeModel(endpoint.name)?.efforts.includes(within) === true ? within : effort;
}

function toThinking(thinking: NonNullable<ModelSettings['thinking']>): Anthropic.ThinkingConfigParam {
  if (typeof thinking === 'number') return { type: 'enabled', budget_tokens: thinking };
  return { type: thinking === 'off' ? 'disabled' : thinking };
}

/** Makes the answer. Local servers leave fields out; tokens that they did not count are estimated. */
function toAnswer(
  { content, stopReason, cut, tokens, model }: ReadAnswer,
  request: SentRequest,
  { bindingOf }: BoundRequest,
  settings: HttpModelSettings,
): ModelAnswer {
  const { endpoint } = settings;
  const { cacheRead = 0, cacheWrite = 0, cacheWriteHour, searches } = tokens;
  const counted = (tokens.input ?? 0) + cacheRead + cacheWrite > 0;
  const { system, messages, tools } = request;
  const counts = {
    input: counted ? (tokens.input ?? 0) : estimateTokens([system, messages, tools]),
    output: tokens.output ?? estimateTokens(content),
    cacheRead,
    cacheWrite,
  };
  return {
    content,
    stopReason: cut ? 'max_tokens' : stopReasonOf(content, stopReason),
    tokens: addTokens(counts, { ...noTokens, cacheWriteHour: cacheWriteHour ?? 0, searches: searches ?? 0 }),
    model: model ?? endpoint.name,
    binding: bindingOf(content),
    server: content.some(isServerTool) ? serverOf(settings) : undefined,
  };
}

function secretsOf({ apiKey, baseUrl = '' }: Endpoint): Parameters<typeof createRedactor>[0] {
  const password = URL.canParse(baseUrl) ? decodeURIComponent(new URL(baseUrl).password) : '';
  return [
    ...(apiKey === undefined ? [] : [{ name: 'api_key', value: apiKey }]),
    ...(password === '' ? [] : [{ name: 'base_url password', value: password }]),
  ];
}
