import type Anthropic from '@anthropic-ai/sdk';
import type { Clock } from '../lib/clock.ts';
import type { Effort } from '../core/claude-models.ts';
import type { Entry } from '../core/entry.ts';
import { ModelError } from '../core/errors.ts';
import { noTokens, type Model, type ModelAnswer, type ModelRequest } from '../core/model.ts';
import type { CallTool } from '../core/tool-call.ts';
import { fitBlocks, stopReasonOf } from './fit-history.ts';
import { compactEntries } from './compact-entries.ts';
import type { LoopWatcher } from './loop-watcher.ts';
import { allText, nextStep, readTurn, type LoopEnd, type LoopResult } from './next-step.ts';
import type { Say } from '../core/texts/say.ts';
import { requestOf, type Offer } from './loop-request.ts';
import { runCalls } from './run-calls.ts';
import type { Viewer } from './show-to.ts';
import { estimateTokens } from './plan-compaction.ts';
import { answerToolSearch, withToolSearch } from './tool-search.ts';
import { isShuttingDown } from '../lib/async/shutdown.ts';
import { watchSilence } from './watch-silence.ts';
import { uniqueCallIds } from './models/anthropic-request.ts';
import type { ToolSpec } from '../core/tool.ts';

export type LoopInput = Readonly<{
  /** The system prompt. Its first block never changes. */
  system: readonly Anthropic.TextBlockParam[];
  entries: readonly Entry[];
  /** Index of the turn's first entry. Default: the last user entry. */
  turnStart?: number;
  /** How many model calls there may be, without the final summary (U5). */
  maxIterations: number;
  /** Identifies the people who may read what the model sees. */
  audience?: string;
  viewers?: Readonly<{ requester: Viewer; everybody: Viewer }>;
  say?: Say;
  /** How hard the model should think (M16). Undefined: as its alias says. */
  effort?: Effort | undefined;
}>;

export type LoopDeps = Readonly<{
  model: Model;
  /** The tools for the next step, asked for before each one (T6). */
  tools(): readonly ToolSpec[];
  callTool: CallTool;
  /** Stores an entry, durably once it resolves (M7). `settles` is an inbox item that is done with it. */
  append(entry: Entry, settles?: string): Promise<void>;
  /** Returns a message that came meanwhile, if any: asked before a model call, and once more when `answered` (H11). */
  join?(
    entries: readonly Entry[],
    answered: boolean,
  ): Promise<Readonly<{ entry: Entry; settles: string }> | undefined>;
  watcher?: LoopWatcher;
  /** Ends the loop: TIMEOUT for a `TimeoutError`, CANCELLED for any other reason. */
  signal: AbortSignal;
  clock: Clock;
}>;

/**
 * Asks the model and makes its calls until it has answered (M2). It resumes from stored entries and repeats no finished
 * call (Q5). Model errors are results. It throws only if storing fails.
 */
export async function runLoop(input: LoopInput, deps: LoopDeps): Promise<LoopResult> {
  const { maxIterations } = input;
  const { model, join, signal, clock } = deps;
  const callTool = answerToolSearch(deps.callTool, deps.tools);
  const tools = (): Offer => withToolSearch(deps.tools());
  const turn = openTurn(input, deps);
  const { append } = turn;
  const ends = createEnds(turn, input, deps);
  const ask = createAsk({ turn, ends, input, deps });
  /** The tools for the last request. They stay if thinking is bound to them (U5, M13). */
  const lastOffer = (): Offer =>
    model.bindsThinking === true ? { ...tools(), toolChoice: 'none' } : { tools: [] };

  for (;;) {
    const state = turn.state();
    const step = nextStep(state, maxIterations, input.say);
    // A process that died after it stored how far the answer was shown is stopped there, too.
    if (signal.aborted && endsStopped(turn.entries)) return ends.stop('');
    if (step.kind === 'end') {
      const late = step.how.status === 'ok' && !signal.aborted ? await join?.(turn.entries, true) : undefined;
      if (late === undefined) return ends.end(step.how, step.text);
      await append(late.entry, late.settles);
      continue;
    }
    if (signal.aborted) return ends.stop('');
    if (step.kind === 'call_tools') {
      const given = { after: state.after, tools: tools().tools, callTool, append, signal, clock };
      const question = await runCalls(step.calls, given);
      if (question !== undefined) return ends.end({ status: 'needs_input' }, question);
      continue;
    }
    const goesOn = state.last !== undefined && state.last.stopReason !== 'tool_use';
    const joined = step.kind === 'ask' && !goesOn ? await join?.(turn.entries, false) : undefined;
    if (joined !== undefined) {
      await append(joined.entry, joined.settles);
      continue;
    }
    if (step.notice !== undefined) await append({ kind: 'notice', text: step.notice, at: clock.now() });
    const ended = await ask(step.kind === 'sum_up' ? lastOffer() : tools(), step.overlong);
    if (ended === undefined) continue;
    if (step.kind !== 'sum_up' || ended.code !== 'MODEL_ERROR') return ended;
    return ends.end({ status: 'partial', code: 'MAX_ITERATIONS' }, allText(turn.state().answers));
  }
}

type OpenTurn = Readonly<{
  /** All entries that the model is shown, also those before the turn. */
  entries: readonly Entry[];
  start(): number;
  state(): ReturnType<typeof readTurn>;
  append(entry: Entry, settles?: string): Promise<void>;
  /** Stores a summary, and drops the entries that it replaces. */
  compact(summary: Extract<Entry, { kind: 'summary' }>): Promise<void>;
}>;

/** The entries of the loop, which grow with each step. */
function openTurn(input: LoopInput, { append: store }: LoopDeps): OpenTurn {
  const entries = [...input.entries];
  const lastUser = entries.findLastIndex(({ kind }) => kind === 'user');
  let start = input.turnStart ?? Math.max(0, lastUser);
  const append: OpenTurn['append'] = async (entry, settles) => {
    await store(entry, settles);
    entries.push(entry);
  };
  return {
    entries,
    start: () => start,
    state: () => readTurn(entries, start),
    append,
    async compact(summary) {
      await append(summary);
      const gone = entries.length - 1 - summary.kept;
      entries.splice(0, gone);
      start -= gone;
    },
  };
}

type Ends = Readonly<{
  end(how: LoopEnd, text: string): LoopResult;
  /** Ends because a budget is reached, with the sentence that says so. */
  atLimit(sentence: string): Promise<LoopResult>;
  /** Ends because of the signal. `unfinished` is what was written of an answer that is not stored. */
  stop(unfinished: string): LoopResult;
  /**
   * Stops within an answer. Words that were shown are stored, because the person may ask to continue (U15). If the
   * process ends, the model is asked again instead.
   */
  stopInside(unfinished: string): Promise<LoopResult>;
}>;

/** The ways in which a loop ends. */
function createEnds(turn: OpenTurn, { maxIterations }: LoopInput, { model, signal, clock }: LoopDeps): Ends {
  const end: Ends['end'] = (how, text) => {
    const { steps, tokens, artifacts } = turn.state();
    return { ...how, text, iterations: Math.min(steps, maxIterations), tokens, artifacts };
  };
  const stop: Ends['stop'] = (unfinished) => {
    const parts = [allText(turn.state().answers), unfinished.trim()];
    const text = parts.filter((part) => part !== '').join('\n\n');
    return end({ status: text === '' ? 'error' : 'partial', code: stopCode(signal) }, text);
  };
  return {
    end,
    async atLimit(sentence) {
      await turn.append({ kind: 'notice', text: 'The work ended here at a budget.', at: clock.now() });
      const text = [allText(turn.state().answers), sentence].filter((part) => part !== '').join('\n\n');
      return end({ status: text === sentence ? 'error' : 'partial', code: 'LIMIT_REACHED' }, text);
    },
    stop,
    async stopInside(unfinished) {
      const text = unfinished.trimEnd();
      if (text.trim() === '' || isShuttingDown(signal)) return stop(unfinished);
      const content = [{ type: 'text' as const, text, citations: null }];
      const tokens = { ...noTokens, output: estimateTokens(text) };
      await turn.append({
        kind: 'assistant',
        content,
        stopReason: 'end_turn',
        tokens,
        model: model.alias,
        at: clock.now(),
      });
      await turn.append({ kind: 'notice', text: stoppedHere, at: clock.now() });
      return stop('');
    },
  };
}

/**
 * Makes the function that asks the model once and stores its answer. It returns undefined if the model answered, else
 * why the loop ends. `overlong` is the sentence for people if compacting does not help.
 */
function createAsk({
  turn,
  ends,
  input,
  deps,
}: Readonly<{ turn: OpenTurn; ends: Ends; input: LoopInput; deps: LoopDeps }>) {
  const { model, watcher, signal, clock } = deps;
  const { entries } = turn;

  const requestWith = (offer: Offer): ModelRequest => requestOf(entries, input, offer);
  const makeRoom = createMakeRoom(turn, input, deps);
  const failed = (text: string, passing: boolean): LoopResult =>
    ends.end({ status: 'error', code: 'MODEL_ERROR', passing }, text);

  const mayAsk = createMayAsk(turn, ends, input, deps);
  return async function ask(offer: Offer, overlong?: string): Promise<LoopResult | undefined> {
    const over = await mayAsk();
    if (over !== undefined) return over;
    const request = requestWith(offer);
    const shorter = await makeRoom(request, overlong !== undefined);
    if (signal.aborted) return ends.stop('');
    // Compacting was a model call, too.
    const now = shorter ? await mayAsk() : undefined;
    if (now !== undefined) return now;
    if (!shorter && overlong !== undefined) return failed(overlong, false);
    watcher?.onIteration?.(turn.state().steps + 1);
    let unfinished = '';
    let answer: ModelAnswer;
    const silence = watchSilence(watcher?.onSilence, clock);
    try {
      answer = await model.complete(shorter ? requestWith(offer) : request, signal, (text) => {
        unfinished += text;
        silence.heard();
        watcher?.onText?.(text);
      });
    } catch (error) {
      if (signal.aborted) return ends.stopInside(unfinished);
      if (!(error instanceof ModelError)) throw error;
      if (error.tooLong && overlong === undefined) return ask(offer, error.sentence);
      return failed(error.sentence, error.passing);
    } finally {
      silence.end();
    }
    const content = uniqueCallIds(fitBlocks(answer.content, offer.tools.map(nameOf)), entries);
    const stopReason = stopReasonOf(content, answer.stopReason);
    await turn.append({ ...entryOf(answer), content, stopReason, at: clock.now() });
    watcher?.onWritten?.(stopReason !== 'tool_use');
    return undefined;
  };
}

/** Makes what compacts the entries. False if nothing got shorter (M9). */
function createMakeRoom(turn: OpenTurn, { viewers }: LoopInput, { model, watcher, signal, clock }: LoopDeps) {
  return async (request: ModelRequest, full: boolean): Promise<boolean> => {
    const { entries } = turn;
    const start = turn.start();
    const made = await compactEntries({ entries, start, request, model, full, signal, clock, viewers });
    if (made === undefined) return false;
    await turn.compact(made.summary);
    watcher?.onCompaction?.(made.compaction);
    return true;
  };
}

/** Makes the check before a model call. It returns how the loop ends, or undefined if the model may be asked. */
function createMayAsk(
  turn: OpenTurn,
  ends: Ends,
  { maxIterations }: LoopInput,
  { model, signal }: LoopDeps,
): () => Promise<LoopResult | undefined> {
  return async () => {
    const { answers, steps } = turn.state();
    // The summary at the end is one more call than there are steps.
    const left = Math.max(1, maxIterations - steps + 1);
    const over = await model.mayCall?.({ last: answers.at(-1), left }, signal);
    if (signal.aborted) return ends.stop('');
    return over === undefined ? undefined : ends.atLimit(over);
  };
}

const nameOf = ({ name }: ToolSpec): string => name;

/** What is stored of an answer. A field that the store does not know would count as one of a newer version (Q15). */
function entryOf({ content, stopReason, tokens, model, binding, server, shares }: ModelAnswer) {
  return { kind: 'assistant', content, stopReason, tokens, model, binding, server, shares } as const;
}

function endsStopped(entries: readonly Entry[]): boolean {
  const last = entries.at(-1);
  return last?.kind === 'notice' && last.text === stoppedHere;
}

export const stoppedHere =
  'The work was stopped in the middle of the answer above. It was shown as far as it stands here.';

function stopCode(signal: AbortSignal): 'TIMEOUT' | 'CANCELLED' {
  const reason: unknown = signal.reason;
  return reason instanceof DOMException && reason.name === 'TimeoutError' ? 'TIMEOUT' : 'CANCELLED';
}
