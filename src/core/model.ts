import type Anthropic from '@anthropic-ai/sdk';
import type { Diagnostic } from './codes.ts';

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

export type ModelRequest = Readonly<{
  system: readonly Anthropic.TextBlockParam[];
  messages: readonly Anthropic.MessageParam[];
  tools: readonly Anthropic.Tool[];
  /** Offers the tools, but calls none. */
  toolChoice?: 'none';
  /** Thinking for some is hidden from others (M13). */
  audience?: string;
}>;

export type BoundThinking = (Anthropic.ThinkingBlockParam | Anthropic.RedactedThinkingBlockParam) &
  Readonly<{ binding?: string }>;

export type ModelAnswer = Readonly<{
  content: readonly Anthropic.ContentBlock[];
  stopReason: Anthropic.StopReason;
  tokens: Tokens;
  model: string;
  /** From the request to the first byte of the stream, in milliseconds. */
  firstChunkMs?: number;
  /** May thinking be in a later request (M13)? */
  binding?: string;
}>;

/** With retries (M4). Throws ModelError, or the signal's reason. */
export type Complete = (
  request: ModelRequest,
  signal: AbortSignal,
  onText?: (text: string) => void,
) => Promise<ModelAnswer>;

export type Model = Readonly<{
  alias: string;
  contextWindow?: number;
  /** Relative to the estimate; 1. */
  tokenFactor?: number;
  sees?: boolean;
  /** Tools stay the same within a turn (M13, T6). */
  bindsThinking?: boolean;
  complete: Complete;
}>;

export type Models = Readonly<{
  /** An alias or `ALIAS/model-id`; otherwise the default (U2). */
  get(name?: string): Model;
  /** Why `get` returns the default. */
  check(name: string): Diagnostic | undefined;
  /** `get()` is the offline model (M1). */
  offline: boolean;
}>;

/** `price…`: US dollars a million tokens. `thinking`: a word or a token budget. */
export type ModelSettings = Readonly<{
  model: string;
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  maxTokens?: number | undefined;
  contextWindow?: number | undefined;
  vision?: boolean | undefined;
  thinking?: 'off' | 'adaptive' | 'between_tools' | number | undefined;
  effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max' | undefined;
  priceIn?: number | undefined;
  priceOut?: number | undefined;
  priceCacheRead?: number | undefined;
  priceCacheWrite?: number | undefined;
}>;

/** Complete: built-in aliases, endpoints and keys from `default`. */
export type ModelsSettings = Readonly<{
  fallback?: string;
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

/** `PROVIDER/MODEL`, as other programs write it, is the alias whose model has that name. */
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

type Endpoint = Pick<ModelSettings, 'baseUrl' | 'apiKey'>;

export function endpointFor(given: Endpoint | undefined, base: Endpoint | undefined): Endpoint {
  if (given?.baseUrl !== undefined || base === undefined) return {};
  const { baseUrl, apiKey } = base;
  return { baseUrl, apiKey };
}
