import type Anthropic from '@anthropic-ai/sdk';
import type { Effort } from './claude-models.ts';
import type { Diagnostic } from './codes.ts';

export type Tokens = Readonly<{
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** Those of `cacheWrite` that are kept for an hour, which costs more (M20). Undefined: none. */
  cacheWriteHour?: number;
  /** Searches that the model's server made, which have a price of their own (M21). Undefined: none. */
  searches?: number;
}>;

/** What a write that is kept for an hour costs, relative to one for five minutes. */
export const hourFactor = 1.6;

export const noTokens: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export function addTokens(a: Tokens, b: Tokens): Tokens {
  const hour = (a.cacheWriteHour ?? 0) + (b.cacheWriteHour ?? 0);
  const sum = {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
  const searches = (a.searches ?? 0) + (b.searches ?? 0);
  const written = hour === 0 ? sum : { ...sum, cacheWriteHour: hour };
  return searches === 0 ? written : { ...written, searches };
}

/** The tokens with writes for an hour as so many for five minutes, which cost the same. */
export function asPriced({ cacheWriteHour = 0, ...tokens }: Tokens): Tokens {
  return { ...tokens, cacheWrite: tokens.cacheWrite + Math.round(cacheWriteHour * (hourFactor - 1)) };
}

/** Why a model gave no answer, if another one may be asked instead (M18). */
export const fallbackCauses = ['busy', 'down', 'key', 'credit', 'too_long', 'refusal'] as const;
export type FallbackCause = (typeof fallbackCauses)[number];

/** A model that was asked. `cause` says why it gave no answer. Undefined: it answered. */
export type Share = Readonly<{ alias: string; tokens: Tokens; cause?: FallbackCause | undefined }>;

/** What was used, and by whom if not only by the chosen model. */
export type Used = Readonly<{ tokens: Tokens; shares?: readonly Share[] | undefined }>;

/**
 * The tokens of each model, under the name that statistics have for it: its alias or, if it answered in place of
 * another one, `haiku ← default (busy)` (M18).
 */
export function usedBy(
  { tokens, shares }: Used,
  chosen: string,
): readonly Readonly<{
  model: string;
  tokens: Tokens;
}>[] {
  if (shares === undefined) return withSearches(chosen, tokens);
  return shares.flatMap(({ alias, cause, tokens: own }, at) => {
    if (cause !== undefined) return isNothing(own) ? [] : withSearches(alias, own);
    const since = shares.slice(0, at).findLastIndex((one) => one.cause === undefined) + 1;
    const first = since < at ? shares[since] : undefined;
    const inPlace = first === undefined ? '' : `${inPlaceOf}${first.alias} (${first.cause})`;
    return withSearches(`${alias}${inPlace}`, own);
  });
}

function isNothing({ input, output, cacheRead, cacheWrite }: Tokens): boolean {
  return input + output + cacheRead + cacheWrite === 0;
}

const inPlaceOf = ' ← ';

const searchesBy = ' · searches';

/** The tokens of a model, and its searches as a row of their own, in which each counts as one token. */
function withSearches(model: string, { searches = 0, ...tokens }: Tokens) {
  const row = { model, tokens };
  if (searches === 0) return [row];
  return [row, { model: `${model}${searchesBy}`, tokens: { ...noTokens, input: searches } }];
}

/** Whether a name in statistics is that of a model's searches. */
export function areSearches(name: string): boolean {
  return name.endsWith(searchesBy);
}

/** The alias of a name in statistics. */
export function aliasInStats(name: string): string {
  const model = areSearches(name) ? name.slice(0, -searchesBy.length) : name;
  return model.split(inPlaceOf, 1)[0] ?? model;
}

/** The next model call of a turn or run. */
export type NextCall = Readonly<{
  /** What the last call of this work used. Undefined before its first call. */
  last: Used | undefined;
  /** How many calls may follow, this one included. */
  left: number;
}>;

export type ModelRequest = Readonly<{
  system: readonly Anthropic.TextBlockParam[];
  messages: readonly Anthropic.MessageParam[];
  tools: readonly Anthropic.Tool[];
  /** `none` sends the tools along, but forbids the model to call one. */
  toolChoice?: 'none';
  /** Whether the model may search the web by a tool of its server, which no door of the bot sees (M21). */
  searchesWeb?: boolean;
  /** How hard a skill wants it to think, within the operator's bound (M16). Undefined: as the alias says. */
  effort?: Effort | undefined;
  /** Who reads the answer. Thinking for one audience is not sent along for another (M13). */
  audience?: string;
}>;

export type BoundThinking = (Anthropic.ThinkingBlockParam | Anthropic.RedactedThinkingBlockParam) &
  Readonly<{ binding?: string }>;

export type ModelAnswer = Readonly<{
  content: readonly Anthropic.ContentBlock[];
  stopReason: Anthropic.StopReason;
  tokens: Tokens;
  model: string;
  /** The models that were asked, in order, if the chosen one gave no answer (M18). */
  shares?: readonly Share[];
  /** From the request to the first byte of the stream, in milliseconds. */
  firstChunkMs?: number;
  /** Thinking is sent back only in a request with the same binding. Undefined: never (M13). */
  binding?: string | undefined;
  /** Set if it used tools of its own: the server to which these blocks are sent back (M20). */
  server?: string | undefined;
}>;

/** Asks the model, with retries (M4). Throws ModelError, or the signal's reason. */
export type Complete = (
  request: ModelRequest,
  signal: AbortSignal,
  onText?: (text: string) => void,
) => Promise<ModelAnswer>;

export type Model = Readonly<{
  alias: string;
  contextWindow?: number;
  /** Real tokens divided by our estimate. Default 1. */
  tokenFactor?: number;
  sees?: boolean;
  /** If true, the tools must stay the same within a turn (M13, T6). */
  bindsThinking?: boolean;
  /**
   * Called before each call of a turn or run. It may wait for people; it never rejects for an abort. Returns why the work
   * ends instead; undefined if the call may be made (G6).
   */
  mayCall?(next: NextCall, signal: AbortSignal): Promise<string | undefined>;
  complete: Complete;
}>;

export type Models = Readonly<{
  /**
   * The model of an alias or of `ALIAS/model-id`; for any other name the default (U2). `around` puts something around
   * each model that may answer in its place, too.
   */
  get(name?: string, around?: (model: Model) => Model): Model;
  /** Why `get` returns the default for this name; undefined if it does not. */
  check(name: string): Diagnostic | undefined;
  /** True if `get()` is the offline model, because no model is configured (M1). */
  offline: boolean;
}>;

/** Models of which all names are this one. */
export function onlyModel(model: Model): Models {
  return { get: (_, around = (one) => one) => around(model), check: () => undefined, offline: false };
}

/** The API by which a model is asked (M17). `openai` is Chat Completions of any server. */
export type ModelApi = 'anthropic' | 'openai' | 'bedrock' | 'vertex';

/** One `[models.ALIAS]`. Prices are US dollars per million tokens. `thinking` is a word or a budget of tokens. */
export type ModelSettings = Readonly<{
  model: string;
  /** By which API it is asked; undefined for `anthropic`. */
  api?: ModelApi | undefined;
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  /** The region of a cloud, for Bedrock and Vertex. */
  region?: string | undefined;
  /** The Google Cloud project that pays, for Vertex. */
  project?: string | undefined;
  maxTokens?: number | undefined;
  contextWindow?: number | undefined;
  vision?: boolean | undefined;
  thinking?: 'off' | 'adaptive' | 'between_tools' | number | undefined;
  effort?: Effort | undefined;
  cache?: CacheTtl | undefined;
  /** How it finds tools where there are many: `auto` by its own search, if it is known to have one (M20). */
  toolSearch?: 'auto' | 'model' | 'own' | 'off' | undefined;
  priceIn?: number | undefined;
  priceOut?: number | undefined;
  priceCacheRead?: number | undefined;
  priceCacheWrite?: number | undefined;
}>;

/** How long the cache keeps what is sent: `auto` as the rhythm of requests pays for it (M20). */
export type CacheTtl = 'auto' | '5m' | '1h';

/** All models, complete with the built-in aliases and the endpoint and key of `default`. */
export type ModelsSettings = Readonly<{
  /** Aliases that are asked in this order if a model gives no answer. */
  fallback?: readonly string[] | undefined;
  /** For which causes they are asked. Default: for all but a refusal. */
  fallbackOn?: readonly FallbackCause[] | undefined;
  aliases: Readonly<Record<string, ModelSettings>>;
}>;

export function resolveModel({ aliases }: ModelsSettings, name: string): ModelSettings | undefined {
  if (Object.hasOwn(aliases, name)) return aliases[name];
  const [alias = '', ...rest] = name.split('/');
  const model = rest.join('/');
  const at = model !== '' && Object.hasOwn(aliases, alias) ? aliases[alias] : undefined;
  if (at !== undefined) return { ...endpointFor(undefined, at), model };
  const known = model === '' ? undefined : aliasWith(aliases, name, model);
  return known === undefined ? undefined : aliases[known];
}

/** Finds the alias whose model has this name, for `PROVIDER/MODEL` as other programs write it. */
function aliasWith(aliases: ModelsSettings['aliases'], name: string, model: string): string | undefined {
  const withModel = (id: string): string | undefined =>
    Object.keys(aliases).find((alias) => aliases[alias]?.model === id);
  return withModel(name) ?? withModel(model);
}

export function aliasOf({ aliases }: ModelsSettings, name: string): string {
  if (Object.hasOwn(aliases, name)) return name;
  const [alias = name, ...rest] = name.split('/');
  return Object.hasOwn(aliases, alias) ? alias : (aliasWith(aliases, name, rest.join('/')) ?? alias);
}

type Endpoint = Readonly<{
  api?: ModelApi | undefined;
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  region?: string | undefined;
  project?: string | undefined;
}>;

/**
 * The endpoint that an alias takes from `base`, which is `default`. It takes none if it names an address or another kind
 * of API.
 */
export function endpointFor(given: Endpoint | undefined, base: Endpoint | undefined): Endpoint {
  if (base === undefined || given?.baseUrl !== undefined) return {};
  const { api, baseUrl, apiKey, region, project } = base;
  if (given?.api !== undefined && given.api !== (api ?? 'anthropic')) return {};
  const all = Object.entries({ api, baseUrl, apiKey, region, project });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}
