import type Anthropic from '@anthropic-ai/sdk';
import type { Clock } from '../lib/clock.ts';
import type { Entry } from '../core/entry.ts';
import { ModelError } from '../core/errors.ts';
import { noTokens, type Model, type ModelAnswer, type ModelRequest } from '../core/model.ts';
import type { CallTool } from '../core/tool-call.ts';
import { fitBlocks, stopReasonOf } from './fit-history.ts';
import { compactEntries, type Compaction } from './compact-entries.ts';
import { nextStep, type LoopEnd, type LoopResult } from './next-step.ts';
import type { Say } from '../core/texts/say.ts';
import { allText, readTurn } from './next-step.ts';
import { runCalls, type ToolSpec } from './run-calls.ts';
import type { Viewer } from './show-to.ts';
import { estimateTokens } from './plan-compaction.ts';
import { toMessages } from './to-messages.ts';
import { isShuttingDown } from '../lib/async/shutdown.ts';
import { watchSilence } from './watch-silence.ts';
import { uniqueCallIds } from './models/anthropic-request.ts';

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

export type LoopWatcher = Readonly<{
  onText?(text: string): void;
  /** Called if no word came for a minute, at most once per model call. */
  onSilence?(): void;
  /** Called when an answer is complete. `final` is true if no tool calls follow. */
  onWritten?(final: boolean): void;
  /** Called with the number of the model call, from 1. */
  onIteration?(iteration: number): void;
  onCompaction?(compaction: Compaction): void;
}>;

/**
 * Asks the model and makes its calls until it has answered (M2). It resumes from stored entries and repeats no finished
 * call (Q5). Model errors are results. It throws only if storing fails.
 */
export async function runLoop(input: LoopInput, deps: LoopDeps): Promise<LoopResult> {
  const { system, maxIterations, audience, viewers } = input;
  const { model, tools, callTool, join, watcher, signal, clock } = deps;
  const entries = [...input.entries];
  let start =
    input.turnStart ??
    Math.max(
      0,
      entries.findLastIndex(({ kind }) => kind === 'user'),
    );
  const append = async (entry: Entry, settles?: string): Promise<void> => {
    await deps.append(entry, settles);
    entries.push(entry);
  };
  const end = (how: LoopEnd, text: string): LoopResult => {
    const { steps, tokens, artifacts } = readTurn(entries, start);
    return { ...how, text, iterations: Math.min(steps, maxIterations), tokens, artifacts };
  };
  const stop = (unfinished: string): LoopResult => {
    const said = [allText(readTurn(entries, start).answers), unfinished.trim()];
    const text = said.filter((part) => part !== '').join('\n\n');
    return end({ status: text === '' ? 'error' : 'partial', code: stopCode(signal) }, text);
  };

  /**
   * Stops within an answer. Words that were shown are stored, because the person may ask to continue (U15). If the
   * process ends, the model is asked again instead.
   */
  const stopInside = async (unfinished: string): Promise<LoopResult> => {
    const text = unfinished.trimEnd();
    if (text.trim() === '' || isShuttingDown(signal)) return stop(unfinished);
    const content = [{ type: 'text' as const, text, citations: null }];
    const tokens = { ...noTokens, output: estimateTokens(text) };
    await append({
      kind: 'assistant',
      content,
      stopReason: 'end_turn',
      tokens,
      model: model.alias,
      at: clock.now(),
    });
    await append({ kind: 'notice', text: stoppedHere, at: clock.now() });
    return stop('');
  };

  const requestWith = ({ tools: shown, toolChoice }: Offer): ModelRequest => ({
    system,
    messages: toMessages(entries, { viewer: viewers?.requester }),
    tools: shown.map(toApiTool),
    toolChoice,
    audience,
  });
  /** Compacts the entries. False if nothing got shorter (M9). */
  const makeRoom = async (request: ModelRequest, full: boolean): Promise<boolean> => {
    const made = await compactEntries({ entries, start, request, model, full, signal, clock, viewers });
    if (made === undefined) return false;
    await append(made.summary);
    const gone = entries.length - 1 - made.summary.kept;
    entries.splice(0, gone);
    start -= gone;
    watcher?.onCompaction?.(made.compaction);
    return true;
  };
  /** The tools for the last request. They stay if thinking is bound to them (U5, M13). */
  const lastOffer = (): Offer =>
    model.bindsThinking === true ? { tools: tools(), toolChoice: 'none' } : { tools: [] };
  const failed = (text: string, passing: boolean): LoopResult =>
    end({ status: 'error', code: 'MODEL_ERROR', passing }, text);

  /** Returns undefined if the model answered, else why the loop ends. `overlong`: said if compacting did not help. */
  const ask = async (offer: Offer, overlong?: string): Promise<LoopResult | undefined> => {
    const request = requestWith(offer);
    const shorter = await makeRoom(request, overlong !== undefined);
    if (signal.aborted) return stop('');
    if (!shorter && overlong !== undefined) return failed(overlong, false);
    watcher?.onIteration?.(readTurn(entries, start).steps + 1);
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
      if (signal.aborted) return stopInside(unfinished);
      if (!(error instanceof ModelError)) throw error;
      if (error.tooLong && overlong === undefined) return ask(offer, error.sentence);
      return failed(error.sentence, error.passing);
    } finally {
      silence.end();
    }
    const names = offer.tools.map(({ name }) => name);
    const content = uniqueCallIds(fitBlocks(answer.content, names), entries);
    const stopReason = stopReasonOf(content, answer.stopReason);
    await append({ kind: 'assistant', ...answer, content, stopReason, at: clock.now() });
    watcher?.onWritten?.(stopReason !== 'tool_use');
    return undefined;
  };

  for (;;) {
    const turn = readTurn(entries, start);
    const step = nextStep(turn, maxIterations, input.say);
    if (step.kind === 'end') {
      const late = step.how.status === 'ok' && !signal.aborted ? await join?.(entries, true) : undefined;
      if (late === undefined) return end(step.how, step.text);
      await append(late.entry, late.settles);
      continue;
    }
    if (signal.aborted) return stop('');
    if (step.kind === 'call_tools') {
      const given = { after: turn.after, tools: tools(), callTool, append, signal, clock };
      const question = await runCalls(step.calls, given);
      if (question !== undefined) return end({ status: 'needs_input' }, question);
      continue;
    }
    const goesOn = turn.last !== undefined && turn.last.stopReason !== 'tool_use';
    const joined = step.kind === 'ask' && !goesOn ? await join?.(entries, false) : undefined;
    if (joined !== undefined) {
      await append(joined.entry, joined.settles);
      continue;
    }
    if (step.notice !== undefined) await append({ kind: 'notice', text: step.notice, at: clock.now() });
    const ended = await ask(step.kind === 'sum_up' ? lastOffer() : { tools: tools() }, step.overlong);
    if (ended === undefined) continue;
    if (step.kind !== 'sum_up' || ended.code !== 'MODEL_ERROR') return ended;
    return end({ status: 'partial', code: 'MAX_ITERATIONS' }, allText(readTurn(entries, start).answers));
  }
}

const stoppedHere =
  'The work was stopped in the middle of the answer above. It was shown as far as it stands here.';

type Offer = Readonly<{ tools: readonly ToolSpec[]; toolChoice?: 'none' }>;

function stopCode(signal: AbortSignal): 'TIMEOUT' | 'CANCELLED' {
  const reason: unknown = signal.reason;
  return reason instanceof DOMException && reason.name === 'TimeoutError' ? 'TIMEOUT' : 'CANCELLED';
}

/** Returns the same object each time, so that what was computed from it can be reused. */
const apiTools = new WeakMap<ToolSpec['inputSchema'], Anthropic.Tool>();

function toApiTool({ name, description, inputSchema }: ToolSpec): Anthropic.Tool {
  const known = apiTools.get(inputSchema);
  if (known?.name === name && known.description === description) return known;
  const tool: Anthropic.Tool = { name, description, input_schema: { ...inputSchema, type: 'object' } };
  apiTools.set(inputSchema, tool);
  return tool;
}
