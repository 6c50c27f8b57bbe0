import type Anthropic from '@anthropic-ai/sdk';
import { allText, callsOf, finalText, type TurnState } from './read-turn.ts';
import type { Tokens } from '../core/model.ts';
import { fixed, sayIn } from '../core/texts/say.ts';
import type { DeliveredFile } from '../core/tool.ts';

/** What a turn needs next. `notice` is the host's word to the model, to be stored before the call. */
export type Step =
  | Readonly<{ kind: 'ask' } & Asking>
  /** Ask once more, without tools; the call is not counted (U5). */
  | Readonly<{ kind: 'sum_up' } & Asking>
  | Readonly<{ kind: 'call_tools'; calls: readonly Anthropic.ToolUseBlock[] }>
  | Readonly<{ kind: 'end'; how: LoopEnd; text: string }>;

type Asking = Readonly<{
  notice?: string;
  /** The last answer broke off at the end of the window: compact first, and say this where that is not possible (M3). */
  overlong?: string;
}>;

const overlong = fixed`This conversation has become too long for the language model.`;
const goOn =
  'Your answer reached the length limit and was cut off. Go on exactly where it stopped, without repeating anything. A tool call that was cut off was not made: make it again, shorter.';
const sumUp =
  'You have used all the steps you had. Call no more tools. Say now what you found or did, and what is still missing.';

/** Decides over a turn's next step: every stop reason on purpose (M3). Pure, so a restart decides the same. */
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

/** What a loop did, whatever became of it. */
type LoopWork = Readonly<{
  /**
   * The final text. Of a loop that was stopped or ran out of steps, everything the model said so far (U5), which may be
   * nothing; after `MODEL_ERROR`, one plain sentence for a person (M4).
   */
  text: string;
  /** Model calls of the turn, those before a restart included; the one that sums up is not counted. */
  iterations: number;
  /** Tokens of the turn, every call included. */
  tokens: Tokens;
  /** Files that its calls handed over. */
  artifacts: readonly DeliveredFile[];
}>;

/** How a loop ended. */
export type LoopEnd = Readonly<
  | { status: 'ok'; code?: undefined; passing?: undefined }
  /** A call waits for a person, whose answer lets the same turn go on (U14). `text` is the question. */
  | { status: 'needs_input'; code?: undefined; passing?: undefined }
  /** With text so far. Without a code: the answer was cut at the model's length limit, and the text says so. */
  | { status: 'partial'; code?: 'MAX_ITERATIONS' | 'TIMEOUT' | 'CANCELLED'; passing?: undefined }
  | { status: 'error'; code: 'TIMEOUT' | 'CANCELLED' | 'EMPTY_RESULT'; passing?: undefined }
  /** `passing`: the same turn may work when tried again later. */
  | { status: 'error'; code: 'MODEL_ERROR'; passing: boolean }
>;

export type LoopResult = LoopWork & LoopEnd;
