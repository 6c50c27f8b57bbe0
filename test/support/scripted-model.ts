import type Anthropic from '@anthropic-ai/sdk';
import {
  noTokens,
  type Model,
  type ModelAnswer,
  type ModelRequest,
  type Tokens,
} from '../../src/core/model.ts';

/** One answer of the script. A string is a text that ends the turn; an error is thrown. */
export type ModelStep =
  | string
  | Error
  | Readonly<{
      text?: string;
      /** Ids default to `call_1`, `call_2` … over the whole script. */
      calls?: readonly Readonly<{ name: string; input?: unknown; id?: string }>[];
      /** Default: `tool_use` with calls, else `end_turn`. */
      stopReason?: Anthropic.StopReason;
      tokens?: Partial<Tokens>;
      /** Further blocks, before the text. */
      blocks?: readonly Anthropic.ContentBlock[];
      /** Awaited after the text was streamed and before the answer is given; an abort meanwhile is thrown. */
      hold?: Promise<unknown>;
    }>;

export type ScriptedModel = Model & Readonly<{ requests: readonly ModelRequest[] }>;

/**
 * Stands in for a language model, and for nothing else: answers in order, or as the function says, and keeps a copy of
 * every request. A list that has run out throws a plain error, which no code under test expects.
 */
export function scriptedModel(
  script: readonly ModelStep[] | ((request: ModelRequest, index: number) => ModelStep | Promise<ModelStep>),
  options: Readonly<{ alias?: string; contextWindow?: number }> = {},
): ScriptedModel {
  const requests: ModelRequest[] = [];
  let calls = 0;
  const toAnswer = (step: Exclude<ModelStep, string | Error>): ModelAnswer => ({
    content: [
      ...(step.blocks ?? []),
      ...(step.text === undefined ? [] : [{ type: 'text' as const, text: step.text, citations: null }]),
      ...(step.calls ?? []).map(({ name, input, id }) => ({
        type: 'tool_use' as const,
        id: id ?? `call_${++calls}`,
        name,
        input: input ?? {},
        caller: { type: 'direct' as const },
      })),
    ],
    stopReason: step.stopReason ?? (step.calls === undefined ? 'end_turn' : 'tool_use'),
    tokens: { ...noTokens, ...step.tokens },
    model: 'scripted',
  });
  return {
    alias: options.alias ?? 'default',
    ...(options.contextWindow === undefined ? {} : { contextWindow: options.contextWindow }),
    requests,
    async complete(request, signal, onText) {
      signal.throwIfAborted();
      const index = requests.push(structuredClone(request)) - 1;
      const step = typeof script === 'function' ? await script(request, index) : script[index];
      if (step === undefined) throw new Error(`the script has no answer to request ${index + 1}`);
      if (step instanceof Error) throw step;
      const answer = toAnswer(typeof step === 'string' ? { text: step } : step);
      for (const block of answer.content) if (block.type === 'text') onText?.(block.text);
      if (typeof step !== 'string' && step.hold !== undefined) await untilAborted(step.hold, signal);
      signal.throwIfAborted();
      return answer;
    },
  };
}

async function untilAborted(hold: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const onAbort = (): void => resolve();
  signal.addEventListener('abort', onAbort);
  await Promise.race([hold, promise]);
  signal.removeEventListener('abort', onAbort);
}
