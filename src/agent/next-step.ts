import type Anthropic from '@anthropic-ai/sdk';
import { allText, callsOf, finalText, type TurnState } from './read-turn.ts';
import type { Tokens } from '../core/model.ts';
import { fixed, sayIn } from '../core/texts/say.ts';
import type { DeliveredFile } from '../core/tool.ts';

/** `notice` is the host's word to the model, stored before the call. */
export type Step =
  | Readonly<{ kind: 'ask' } & Asking>
  /** Once more, without tools and uncounted (U5). */
  | Readonly<{ kind: 'sum_up' } & Asking>
  | Readonly<{ kind: 'call_tools'; calls: readonly Anthropic.ToolUseBlock[] }>
  | Readonly<{ kind: 'end'; how: LoopEnd; text: string }>;

type Asking = Readonly<{
  notice?: string;
  /** The answer broke off at the end of the window: compact first, and say this if that fails (M3). */
  overlong?: string;
}>;

const overlong = fixed`This conversation has become too long for the language model.`;
const goOn =
  'Your answer reached the length limit and was cut off. Go on exactly where it stopped, without repeating anything. A tool call that was cut off was not made: make it again, shorter.';
const sumUp =
  'You have used all the steps you had. Call no more tools. Say now what you found or did, and what is still missing.';

/** A turn's next step: every stop reason on purpose (M3). Pure, so a restart decides the same. */
export function nextStep(turn: TurnState, maxIterations: number, say = sayIn(undefined)): Step {
  const { answers, last } = turn;
  if (answers.length > maxIterations) {
    return { kind: 'end', how: { status: 'partial', code: 'MAX_ITERATIONS' }, text: allText(answers) };
  }
  const ask = (notice?: string): Extract<Step, Asking> => {
    if (answers.length === maxIterations) return withNotice('sum_up', turn, sumUp);
    return withNotice('ask', turn, notice);
  };
  if (last === undefined) return ask();
  switch (last.stopReason) {
    case 'tool_use': {
      const calls = callsOf(last);
      if (calls.length === 0) return ended(turn);
      const results = new Set(turn.after.map((entry) => entry.kind === 'tool_result' && entry.toolUseId));
      return calls.every(({ id }) => results.has(id)) ? ask() : { kind: 'call_tools', calls };
    }
    case 'pause_turn':
      return ask();
    case 'max_tokens': {
      const again = answers.at(-2)?.stopReason === 'max_tokens';
      if (!again && answers.length < maxIterations) return ask(goOn);
      const cut = say`(The answer was cut off here: it is longer than the model may write.)`;
      const text = `${finalText(answers)}\n\n${cut}`;
      return { kind: 'end', how: { status: 'partial' }, text: text.trim() };
    }
    case 'refusal':
      return failed(fixed`The language model declined to answer this.`);
    case 'model_context_window_exceeded':
      if (turn.exceeded > 1) return failed(overlong);
      return turn.after.some(({ kind }) => kind === 'summary') ? ask() : { ...ask(), overlong };
    default:
      return ended(turn);
  }
}

function withNotice(
  kind: 'ask' | 'sum_up',
  turn: TurnState,
  notice: string | undefined,
): Extract<Step, Asking> {
  const said = turn.after.some((entry) => entry.kind === 'notice' && entry.text === notice);
  return notice === undefined || said ? { kind } : { kind, notice };
}

function ended({ answers }: TurnState): Step {
  const text = finalText(answers);
  if (text !== '') return { kind: 'end', how: { status: 'ok' }, text };
  return { kind: 'end', how: { status: 'error', code: 'EMPTY_RESULT' }, text };
}

function failed(sentence: string): Step {
  return { kind: 'end', how: { status: 'error', code: 'MODEL_ERROR', passing: false }, text: sentence };
}

type LoopWork = Readonly<{
  /**
   * After a stop or too many steps, all that the model said (U5), perhaps nothing. After `MODEL_ERROR`, a sentence
   * for a person (M4).
   */
  text: string;
  /** Before a restart, too; without the one that sums up. */
  iterations: number;
  tokens: Tokens;
  artifacts: readonly DeliveredFile[];
}>;

export type LoopEnd = Readonly<
  | { status: 'ok'; code?: undefined; passing?: undefined }
  /** A person's answer lets the same turn go on (U14). `text` is the question. */
  | { status: 'needs_input'; code?: undefined; passing?: undefined }
  /** Without a code: cut at the length limit, as the text says. */
  | { status: 'partial'; code?: 'MAX_ITERATIONS' | 'TIMEOUT' | 'CANCELLED'; passing?: undefined }
  | { status: 'error'; code: 'TIMEOUT' | 'CANCELLED' | 'EMPTY_RESULT'; passing?: undefined }
  /** `passing`: the same turn may work later. */
  | { status: 'error'; code: 'MODEL_ERROR'; passing: boolean }
>;

export type LoopResult = LoopWork & LoopEnd;
