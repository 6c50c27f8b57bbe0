import type Anthropic from '@anthropic-ai/sdk';
import type { Diagnostic } from './codes.ts';

/** Usage as the API reports it; zero where a server reports nothing. */
export type Tokens = Readonly<{ input: number; output: number; cacheRead: number; cacheWrite: number }>;

export const noTokens: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export function addTokens(a: Tokens, b: Tokens): Tokens {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}

/** One request to a language model, in the Messages API's own words. */
export type ModelRequest = Readonly<{
  system: readonly Anthropic.TextBlockParam[];
  messages: readonly Anthropic.MessageParam[];
  tools: readonly Anthropic.Tool[];
  /** The tools stay as they are, and none may be called. */
  toolChoice?: 'none';
  /** For whom it is made: what a model thinks for some is not shown to others (M13). */
  audience?: string;
}>;

/** Thinking in a request, with what its answer was bound to (`ModelAnswer.binding`). */
export type BoundThinking = (Anthropic.ThinkingBlockParam | Anthropic.RedactedThinkingBlockParam) &
  Readonly<{ binding?: string }>;

export type ModelAnswer = Readonly<{
  content: readonly Anthropic.ContentBlock[];
  stopReason: Anthropic.StopReason;
  tokens: Tokens;
  /** The model's own id. */
  model: string;
  /** Tells whether its thinking may stand in a later request (M13). */
  binding?: string;
}>;

/** Asks the model once, retries included (M4). `onText` gets text as it comes. Throws ModelError, or the signal's reason. */
export type Complete = (
  request: ModelRequest,
  signal: AbortSignal,
  onText?: (text: string) => void,
) => Promise<ModelAnswer>;

/** A configured model, ready to be asked. */
export type Model = Readonly<{
  /** The alias it was asked for by. */
  alias: string;
  /** Tokens; absent where nothing is known of it. */
  contextWindow?: number;
  /** Tokens of a text, beside what is estimated. Default: 1. */
  tokenFactor?: number;
  /** False: it can see neither pictures nor documents. */
  sees?: boolean;
  /** Thinking is lost where the tools change: they stay the same within a turn (M13, T6). */
  bindsThinking?: boolean;
  complete: Complete;
}>;

export type Models = Readonly<{
  /** The model of an alias, or of `ALIAS/model-id` at that alias's endpoint; the default for none and for an unknown one (U2). */
  get(name?: string): Model;
  /** What is wrong with a name that `get` answers with the default. */
  check(name: string): Diagnostic | undefined;
  /** No language model is configured: `get()` is the offline model (M1). */
  offline: boolean;
}>;

/** A model and where it is served. `price…` are US dollars a million tokens, `thinking` a token budget or a word. */
export type ModelSettings = Readonly<{
  model: string;
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  /** Of one answer. */
  maxTokens?: number | undefined;
  /** Tokens. */
  contextWindow?: number | undefined;
  /** Whether it sees pictures and PDFs. */
  vision?: boolean | undefined;
  thinking?: 'off' | 'adaptive' | 'between_tools' | number | undefined;
  effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max' | undefined;
  priceIn?: number | undefined;
  priceOut?: number | undefined;
  priceCacheRead?: number | undefined;
  priceCacheWrite?: number | undefined;
}>;

/** `[models]` with its aliases completed: those built in, and endpoints and keys taken over from `default`. */
export type ModelsSettings = Readonly<{
  fallback?: string;
  aliases: Readonly<Record<string, ModelSettings>>;
}>;

/** Finds what an alias, or `ALIAS/model-id` on that alias's endpoint, stands for (U2); nothing for an unknown one. */
export function resolveModel({ aliases }: ModelsSettings, name: string): ModelSettings | undefined {
  if (Object.hasOwn(aliases, name)) return aliases[name];
  const [alias = '', ...rest] = name.split('/');
  const model = rest.join('/');
  const at = model !== '' && Object.hasOwn(aliases, alias) ? aliases[alias] : undefined;
  return at && { ...endpointFor(undefined, at), model };
}

/** The alias that a name is, or that `ALIAS/model-id` begins with. */
export function aliasOf({ aliases }: ModelsSettings, name: string): string {
  return Object.hasOwn(aliases, name) ? name : (name.split('/', 1)[0] ?? name);
}

type Endpoint = Pick<ModelSettings, 'baseUrl' | 'apiKey'>;

/** Endpoint and key that a model without an endpoint of its own has from `base`. */
export function endpointFor(given: Endpoint | undefined, base: Endpoint | undefined): Endpoint {
  if (given?.baseUrl !== undefined || base === undefined) return {};
  const { baseUrl, apiKey } = base;
  return { baseUrl, apiKey };
}
