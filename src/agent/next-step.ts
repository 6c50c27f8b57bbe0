import type Anthropic from '@anthropic-ai/sdk';
import type { Entry } from '../core/entry.ts';
import { addTokens, noTokens, type Tokens } from '../core/model.ts';
import { fixed, sayIn } from '../core/texts/say.ts';
import type { DeliveredFile } from '../core/tool.ts';

/** What to do next. `notice` is for the model and stored first. */
type Step =
  | Readonly<{ kind: 'ask' } & Asking>
  /** Ask for a last answer without tools, which does not count as a step (U5). */
  | Readonly<{ kind: 'sum_up' } & Asking>
  | Readonly<{ kind: 'call_tools'; calls: readonly Anthropic.ToolUseBlock[] }>
  | Readonly<{ kind: 'end'; how: LoopEnd; text: string }>;

type Asking = Readonly<{
  notice?: string;
  /** The context window cut the answer: compact once; if nothing got shorter, end with this sentence (M3). */
  overlong?: string;
}>;

export const overlong = fixed`This conversation has become too long for the language model. Start a new one with the command “new”.`;
const goOn =
  'Your answer reached the length limit and was cut off. Go on exactly where it stopped, without repeating anything. A tool call that was cut off was not made: make it again, shorter.';
const sumUp =
  'You have used all the steps you had. Call no more tools. Say now what you found or did, and what is still missing.';

/** Decides the next step for every stop reason (M3). It is pure, so that a restart decides the same. */
export function nextStep(turn: TurnState, maxIterations: number, say = sayIn(undefined)): Step {
  const { answers, steps, last } = turn;
  if (steps > maxIterations) {
    return { kind: 'end', how: { status: 'partial', code: 'MAX_ITERATIONS' }, text: allText(answers) };
  }
  const ask = (notice?: string): Extract<Step, Asking> => {
    if (steps === maxIterations) return withNotice('sum_up', turn, sumUp);
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
      if (!again && steps < maxIterations) return ask(goOn);
      const cut = say`(The answer was cut off here: it is longer than the model may write. Ask me to continue.)`;
      const text = `${finalText(answers)}\n\n${cut}`;
      return { kind: 'end', how: { status: 'partial' }, text: text.trim() };
    }
    case 'refusal':
      return failed(
        fixed`The language model declined to answer this. Please rephrase it, or ask something else.`,
      );
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
   * After a stop or too many steps, everything that was said (U5). For `MODEL_ERROR` a sentence for the person (M4).
   */
  text: string;
  /** Model calls of this turn, without the final summary. */
  iterations: number;
  tokens: Tokens;
  artifacts: readonly DeliveredFile[];
}>;

export type LoopEnd = Readonly<
  | { status: 'ok'; code?: undefined; passing?: undefined }
  /** A person's answer resumes the run (U14). `text` is the question. */
  | { status: 'needs_input'; code?: undefined; passing?: undefined }
  /** Without a code it was cut at the length limit. */
  | { status: 'partial'; code?: 'MAX_ITERATIONS' | 'TIMEOUT' | 'CANCELLED'; passing?: undefined }
  /** A budget was reached (G6). `text` ends with the sentence that says so. */
  | { status: 'partial' | 'error'; code: 'LIMIT_REACHED'; passing?: undefined }
  | { status: 'error'; code: 'TIMEOUT' | 'CANCELLED' | 'EMPTY_RESULT'; passing?: undefined }
  /** `passing` is true if the same turn may succeed later. */
  | { status: 'error'; code: 'MODEL_ERROR'; passing: boolean }
>;

export type LoopResult = LoopWork & LoopEnd;

export type ModelEntry = Extract<Entry, { kind: 'assistant' }>;

/** The state of a turn, found from entries alone, so that a restart finds the same (Q5). */
type TurnState = Readonly<{
  /** The answers of the turn, without those that the window cut. */
  answers: readonly ModelEntry[];
  /** Number of model calls, including those of subagents (U7). */
  steps: number;
  /** Undefined if a person has spoken since. */
  last: ModelEntry | undefined;
  /** How many answers the window cut (M3). */
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
  const below = turn.map((entry) => (entry.kind === 'tool_result' ? (entry.steps ?? 0) : 0));
  return {
    answers,
    steps: below.reduce((sum, steps) => sum + steps, answers.length),
    last: after.some((entry) => entry.kind === 'user') ? undefined : all.at(-1),
    exceeded: all.length - 1 - all.findLastIndex((answer) => !hasExceeded(answer)),
    after,
    tokens: turn.reduce((sum, entry) => ('tokens' in entry ? addTokens(sum, entry.tokens) : sum), noTokens),
    artifacts: turn.flatMap((entry) => (entry.kind === 'tool_result' ? (entry.artifacts ?? []) : [])),
  };
}

export function finalText(answers: readonly ModelEntry[]): string {
  const ends = answers.slice(0, -1);
  const start = ends.findLastIndex(({ stopReason }) => !goesOn(stopReason)) + 1;
  return answers.slice(start).map(textOf).join('').trim();
}

export function allText(answers: readonly ModelEntry[]): string {
  return answers
    .map((answer, index) => {
      const previous = answers[index - 1];
      return (previous && !goesOn(previous.stopReason) ? '\n\n' : '') + textOf(answer);
    })
    .join('')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** The calls of an answer. An answer that was cut may contain something that only looks like a call. */
export function callsOf(answer: ModelEntry): readonly Anthropic.ToolUseBlock[] {
  return answer.stopReason === 'tool_use' ? answer.content.filter((block) => block.type === 'tool_use') : [];
}

/** The calls among `entries` that succeeded. */
export function doneCalls(entries: readonly Entry[]): readonly Anthropic.ToolUseBlock[] {
  const done = new Set(
    entries.flatMap((entry) => (entry.kind === 'tool_result' && !entry.isError ? [entry.toolUseId] : [])),
  );
  const calls = entries.flatMap((entry) => (entry.kind === 'assistant' ? callsOf(entry) : []));
  return calls.filter(({ id }) => done.has(id));
}

function hasExceeded({ stopReason }: ModelEntry): boolean {
  return stopReason === 'model_context_window_exceeded';
}

function goesOn(stopReason: Anthropic.StopReason): boolean {
  return stopReason === 'pause_turn' || stopReason === 'max_tokens';
}

function textOf(answer: ModelEntry): string {
  return answer.content.map((block) => (block.type === 'text' ? withLinks(block) : '')).join('');
}

/** The text with links to the pages that it cites (M21). */
function withLinks({ text, citations }: Anthropic.TextBlock): string {
  const cited = (citations ?? []).flatMap((one) =>
    one.type === 'web_search_result_location' ? one.url : [],
  );
  const links = [...new Set(cited)].flatMap((url) => {
    if (!URL.canParse(url) || !/^https?:/i.test(url)) return [];
    const { host, href } = new URL(url);
    return [` ([${host}](${href.replaceAll('(', '%28').replaceAll(')', '%29')}))`];
  });
  return links.length === 0 ? text : `${text.trimEnd()}${links.join('')}${/\s*$/.exec(text)?.[0] ?? ''}`;
}
