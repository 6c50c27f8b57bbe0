import type Anthropic from '@anthropic-ai/sdk';
import type { Diagnostic } from './diagnostic.ts';

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
