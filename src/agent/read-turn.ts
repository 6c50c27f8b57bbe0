import type Anthropic from '@anthropic-ai/sdk';
import type { Entry } from '../core/entry.ts';
import { addTokens, noTokens, type Tokens } from '../core/model.ts';
import type { DeliveredFile } from '../core/tool.ts';

export type Answer = Extract<Entry, { kind: 'assistant' }>;

/** A turn worked out from its entries alone, so that a restart finds the same (Q5). */
export type TurnState = Readonly<{
  /** Without those that broke off at the end of the window. */
  answers: readonly Answer[];
  /** Undefined if a person has spoken since. */
  last: Answer | undefined;
  /** How many of the last answers broke off at the end of the window (M3). */
  exceeded: number;
  after: readonly Entry[];
  tokens: Tokens;
  artifacts: readonly DeliveredFile[];
}>;

export function readTurn(entries: readonly Entry[], start: number): TurnState {
  const turn = entries.slice(start);
  const all = turn.filter((entry) => entry.kind === 'assistant');
  const answers = all.filter((answer) => !hasExceeded(answer));
  const after = turn.slice(turn.findLastIndex((entry) => entry.kind === 'assistant') + 1);
  return {
    answers,
    last: after.some((entry) => entry.kind === 'user') ? undefined : all.at(-1),
    exceeded: all.length - 1 - all.findLastIndex((answer) => !hasExceeded(answer)),
    after,
    tokens: turn.reduce((sum, entry) => ('tokens' in entry ? addTokens(sum, entry.tokens) : sum), noTokens),
    artifacts: turn.flatMap((entry) => (entry.kind === 'tool_result' ? (entry.artifacts ?? []) : [])),
  };
}

/** With earlier parts of an answer that was paused or cut. */
export function finalText(answers: readonly Answer[]): string {
  const ends = answers.slice(0, -1);
  const start = ends.findLastIndex(({ stopReason }) => !goesOn(stopReason)) + 1;
  return answers.slice(start).map(textOf).join('').trim();
}

export function allText(answers: readonly Answer[]): string {
  return answers
    .map((answer, index) => {
      const previous = answers[index - 1];
      return (previous && !goesOn(previous.stopReason) ? '\n\n' : '') + textOf(answer);
    })
    .join('')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Only of an answer that stopped for tools: a cut one can hold a valid-looking call. */
export function callsOf(answer: Answer): readonly Anthropic.ToolUseBlock[] {
  return answer.stopReason === 'tool_use' ? answer.content.filter((block) => block.type === 'tool_use') : [];
}

function hasExceeded({ stopReason }: Answer): boolean {
  return stopReason === 'model_context_window_exceeded';
}

function goesOn(stopReason: Anthropic.StopReason): boolean {
  return stopReason === 'pause_turn' || stopReason === 'max_tokens';
}

function textOf(answer: Answer): string {
  return answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
