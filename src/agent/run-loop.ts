import type Anthropic from '@anthropic-ai/sdk';
import type { Clock } from '../lib/clock.ts';
import type { Entry } from '../core/entry.ts';
import { ModelError } from '../core/errors.ts';
import type { Model, ModelAnswer, ModelRequest } from '../core/model.ts';
import type { CallTool } from '../core/tool-call.ts';
import { compactEntries, type Compaction } from './compact-entries.ts';
import { nextStep, type LoopEnd, type LoopResult } from './next-step.ts';
import type { Say } from '../core/texts/say.ts';
import { allText, readTurn } from './read-turn.ts';
import { runCalls, type ToolSpec } from './run-calls.ts';
import type { Viewer } from './show-to.ts';
import { toMessages } from './to-messages.ts';
import { uniqueCallIds } from './models/anthropic-request.ts';

/** Where entries are stored. A resolved `append` is durable: effects follow it (M7). */
export type Journal = Readonly<{
  /** `settles`: an inbox item that is done in the same step. */
  append(entry: Entry, settles?: string): Promise<void>;
}>;

export type RunLoopOptions = Readonly<{
  model: Model;
  /** The first block is the part that stays the same from turn to turn. */
  system: readonly Anthropic.TextBlockParam[];
  /** The transcript, the message to be answered included. */
  entries: readonly Entry[];
  /** Index of the first entry that counts as this turn: for iterations, tokens and text. Default: the last user entry. */
  turnStart?: number;
  /** Asked before each model call and each round of tool calls: what is allowed may change during a turn (T6). */
  tools(): readonly ToolSpec[];
  callTool: CallTool;
  /** Who may read what the model is shown here: the same words for the same people. */
  audience?: string;
  /** In a chat of several people: what the requester, and what everybody there may know of. */
  viewers?: Readonly<{ requester: Viewer; everybody: Viewer }>;
  limits: Readonly<{
    /** Model calls in this turn; one more, without tools, sums up (U5). */
    maxIterations: number;
  }>;
  journal: Journal;
  /** For what the loop itself puts into the text. Default: English. */
  say?: Say;
  /**
   * Asked before a model call, and once it has `answered`: what the person wrote since, and the item that is done once it is
   * stored (H11). Not while an answer is still being gone on with.
   */
  join?(
    entries: readonly Entry[],
    answered: boolean,
  ): Promise<Readonly<{ entry: Entry; settles: string }> | undefined>;
  /** Aborted with a `TimeoutError` DOMException (as by AbortSignal.timeout) it ends as TIMEOUT, else as CANCELLED. */
  signal: AbortSignal;
  /** Text as the model writes it, of every call of the turn. */
  onText?(text: string): void;
  /** What the model writes is whole; `final` unless tools are called first. */
  onWritten?(final: boolean): void;
  /** Before each model call: the number of the call about to be made, from 1. */
  onIteration?(iteration: number): void;
  /** After a summary was stored that stands for earlier entries (M9). */
  onCompaction?(compaction: Compaction): void;
  clock: Clock;
}>;

/**
 * The one agent loop (M2): asks the model, carries out the tools it asks for, until it has answered. It may be called
 * again with the entries read back after a crash, and continues where they end: a finished call is never repeated,
 * and a turn that has its answer returns it without a model call (Q5). What the model does wrong is a
 * result; only a journal that can't store makes it throw.
 */
export async function runLoop(options: RunLoopOptions): Promise<LoopResult> {
  const { model, system, tools, callTool, limits, journal, signal, onText, onIteration, clock } = options;
  const { audience, viewers } = options;
  const entries = [...options.entries];
  let start =
    options.turnStart ??
    Math.max(
      0,
      entries.findLastIndex(({ kind }) => kind === 'user'),
    );
  const append = async (entry: Entry, settles?: string): Promise<void> => {
    await journal.append(entry, settles);
    entries.push(entry);
  };
  const end = (how: LoopEnd, text: string): LoopResult => {
    const { answers, tokens, artifacts } = readTurn(entries, start);
    return { ...how, text, iterations: Math.min(answers.length, limits.maxIterations), tokens, artifacts };
  };
  const stop = (unfinished: string): LoopResult => {
    const said = [allText(readTurn(entries, start).answers), unfinished.trim()];
    const text = said.filter((part) => part !== '').join('\n\n');
    return end({ status: text === '' ? 'error' : 'partial', code: stopCode(signal) }, text);
  };

  const requestWith = ({ tools: shown, toolChoice }: Offer): ModelRequest => ({
    system,
    messages: toMessages(entries, { viewer: viewers?.requester }),
    tools: shown.map(toApiTool),
    toolChoice,
    audience,
  });
  /** Stores a summary where one is needed (M9); `full`: the prompt did not fit. False when nothing was made shorter. */
  const makeRoom = async (request: ModelRequest, full: boolean): Promise<boolean> => {
    const made = await compactEntries({ entries, start, request, model, full, signal, clock, viewers });
    if (made === undefined) return false;
    await append(made.summary);
    // From here on what would be read back, so that a restart finds the same.
    const gone = entries.length - 1 - made.summary.kept;
    entries.splice(0, gone);
    start -= gone;
    options.onCompaction?.(made.compaction);
    return true;
  };
  /** Summing up, no tool may be called: they go, or stay where thinking hangs on them (U5, M13). */
  const lastOffer = (): Offer =>
    model.bindsThinking === true ? { tools: tools(), toolChoice: 'none' } : { tools: [] };
  const failed = (text: string, passing: boolean): LoopResult =>
    end({ status: 'error', code: 'MODEL_ERROR', passing }, text);

  /** Nothing when the answer is stored. `overlong`: the sentence for a prompt that did not fit, if it still does not. */
  const ask = async (offer: Offer, overlong?: string): Promise<LoopResult | undefined> => {
    const request = requestWith(offer);
    const shorter = await makeRoom(request, overlong !== undefined);
    if (signal.aborted) return stop('');
    if (!shorter && overlong !== undefined) return failed(overlong, false);
    onIteration?.(readTurn(entries, start).answers.length + 1);
    let unfinished = '';
    let answer: ModelAnswer;
    try {
      answer = await model.complete(shorter ? requestWith(offer) : request, signal, (text) => {
        unfinished += text;
        onText?.(text);
      });
    } catch (error) {
      if (signal.aborted) return stop(unfinished);
      if (!(error instanceof ModelError)) throw error;
      if (error.tooLong && overlong === undefined) return ask(offer, error.sentence);
      return failed(error.sentence, error.passing);
    }
    const content = uniqueCallIds(answer.content, entries);
    await append({ kind: 'assistant', ...answer, content, at: clock.now() });
    options.onWritten?.(answer.stopReason !== 'tool_use');
    return undefined;
  };

  for (;;) {
    const turn = readTurn(entries, start);
    const step = nextStep(turn, limits.maxIterations, options.say);
    if (step.kind === 'end') {
      const late =
        step.how.status === 'ok' && !signal.aborted ? await options.join?.(entries, true) : undefined;
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
    const joined = step.kind === 'ask' && !goesOn ? await options.join?.(entries, false) : undefined;
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

type Offer = Readonly<{ tools: readonly ToolSpec[]; toolChoice?: 'none' }>;

function stopCode(signal: AbortSignal): 'TIMEOUT' | 'CANCELLED' {
  const reason: unknown = signal.reason;
  return reason instanceof DOMException && reason.name === 'TimeoutError' ? 'TIMEOUT' : 'CANCELLED';
}

function toApiTool({ name, description, inputSchema }: ToolSpec): Anthropic.Tool {
  return { name, description, input_schema: { ...inputSchema, type: 'object' } };
}
