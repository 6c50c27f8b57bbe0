import type Anthropic from '@anthropic-ai/sdk';
import { estimateTokens, planCompaction, summaryRequest, type CompactionPlan } from './plan-compaction.ts';
import { isHiddenTurn, asStub, collapseActiveSkills, beginningOfLastTurn, type Viewer } from './show-to.ts';
import { toMessages, isShown, newestSummary, viewEntries, type Summary } from './to-messages.ts';
import { taintIn, type Entry } from '../core/entry.ts';
import { ModelError } from '../core/errors.ts';
import {
  addTokens,
  noTokens,
  type Model,
  type ModelRequest,
  type Share,
  type Tokens,
  type Used,
} from '../core/model.ts';
import type { Clock } from '../lib/clock.ts';
import { isDeferredTool } from './tool-search.ts';
import { truncate } from '../lib/text/text.ts';

/**
 * A window that is common for local servers. A server that silently cuts prompts needs `context_window` in the config.
 */
const unknownWindow = 32_000;

/**
 * Shares of the context window. `full`: where compaction begins (M9). `nearlyOver`: almost no room left. `kept`:
 * entries that stay as they are. `turn`: the longest turn that stays whole. `worth`: the least that compaction has to
 * save. `summary`: its length. `asked`: the input of one request.
 */
const share = { full: 0.7, nearlyOver: 0.9, kept: 0.25, turn: 0.4, worth: 0.05, summary: 0.1, asked: 0.5 };
const tokensPerWord = 1.6;
const leftOut =
  'Earlier parts of this conversation were left out here: they no longer fit, and no summary of them could be made.';

/** What a compaction did, with estimated tokens, for the log. */
export type Compaction = Readonly<{
  how: 'summarised' | 'trimmed';
  before: number;
  after: number;
  tokensBefore: number;
  tokensAfter: number;
  durationMs: number;
  cause?: string;
}>;

type CompactOptions = Readonly<{
  entries: readonly Entry[];
  start: number;
  request: ModelRequest;
  model: Model;
  full: boolean;
  signal: AbortSignal;
  clock: Clock;
  /** The people who may read the summary (M13). */
  viewers?: Readonly<{ requester: Viewer; everybody: Viewer }> | undefined;
}>;

/**
 * Compacts the entries if they fill more than 70 % of the window, or if the request did not fit (`full`) (M9, M3). If
 * the model fails, it trims them. Undefined if compaction is not needed, not possible or aborted.
 */
export async function compactEntries(
  options: CompactOptions,
): Promise<Readonly<{ summary: Summary; compaction: Compaction }> | undefined> {
  const { entries, start, request, model, full, signal, clock, viewers } = options;
  const known = model.contextWindow ?? unknownWindow;
  const size = promptSize(request, entries, model.tokenFactor);
  if (!full && size <= known * share.full) return undefined;
  // The refusal shows that the window is smaller than assumed.
  const window = full ? Math.min(known, size) : known;
  const estimated = estimateTokens(withoutDeferred(request));
  const asEstimated = (tokens: number): number => (tokens * estimated) / size;
  const shown = estimateTokens(request.messages);
  const plan = planCompaction(collapseActiveSkills(entries), start, {
    room: Math.min(asEstimated(window * share.kept), shown * 0.4),
    turnRoom: Math.min(asEstimated(window * share.turn), shown * 0.6),
    worth: full ? 0 : asEstimated(window * share.worth),
  });
  if (plan === undefined) return undefined;

  const began = clock.now();
  const limit = Math.max(200, Math.min(4_000, Math.round(window * share.summary)));
  const older = olderEntries(entries, plan);
  const asking = { model, limit, room: asEstimated(window * share.asked), signal };
  const made = await summarise(
    toMessages(older, { viewer: viewers?.everybody, underWay: older.length, files: 'words' }),
    asking,
  );
  const own = made.ok ? await ownPart(entries, plan, viewers?.everybody, asking) : undefined;
  if (signal.aborted) return undefined;
  if (!made.ok && made.passing && !full && size <= known * share.nearlyOver) return undefined;
  const previous = newestSummary(entries).summary;
  const summary: Summary = {
    kind: 'summary',
    text: made.ok ? made.text : trimmed(previous, limit),
    kept: entries.length - plan.cut,
    folded: plan.tail > plan.cut ? plan.tail - plan.cut : undefined,
    senders: sendersOf(older),
    own: own?.part === undefined ? undefined : own.part,
    // Everything was read for the summary.
    taint: taintIn(entries),
    tokens: own === undefined ? made.tokens : addTokens(made.tokens, own.tokens),
    shares: sharesOf([made, ...(own === undefined ? [] : [own])], model.alias),
    // It only grows, because ids of calls depend on it.
    at: Math.max(clock.now(), (previous?.at ?? 0) + 1),
  };
  const view = viewEntries([...entries, summary]);
  const saved = shown - estimateTokens(toMessages(view, { viewer: viewers?.requester }));
  return {
    summary,
    compaction: {
      how: made.ok ? 'summarised' : 'trimmed',
      before: viewEntries(entries).length,
      after: view.length,
      tokensBefore: size,
      tokensAfter: Math.round(size * (1 - saved / estimated)),
      durationMs: clock.now() - began,
      cause: made.ok ? undefined : made.cause,
    },
  };
}

/** The entries that the summary replaces. A turn that is cut keeps the person's words. */
function olderEntries(entries: readonly Entry[], { tail }: CompactionPlan): readonly Entry[] {
  const { summary } = newestSummary(entries);
  const shown = isShown(entries);
  const older = entries.filter((entry, index) => index < tail && shown(index) && entry.kind !== 'summary');
  const record = older.map(asStub);
  return summary === undefined ? record : [{ ...summary, kept: 0 }, ...record];
}

/** Summarises the work of the turn that is cut, for its sender only. */
async function ownPart(
  entries: readonly Entry[],
  { cut, tail }: CompactionPlan,
  everybody: Viewer | undefined,
  asking: Asking,
): Promise<(Readonly<{ part?: NonNullable<Summary['own']> }> & Used) | undefined> {
  const first = entries[cut];
  if (everybody === undefined || first?.kind !== 'user' || first.sender === undefined) return undefined;
  const done = entries.slice(cut, tail);
  if (!isHiddenTurn(done, everybody)) return undefined;
  const made = await summarise(toMessages(done.map(asStub), { files: 'words' }), asking);
  return made.ok
    ? { ...made, part: { sender: first.sender, text: made.text } }
    : { tokens: made.tokens, shares: made.shares };
}

/** Whose tokens a summary took. Undefined: only the chosen model's. */
function sharesOf(used: readonly Used[], chosen: string): readonly Share[] | undefined {
  if (used.every(({ shares }) => shares === undefined)) return undefined;
  return used.flatMap(({ tokens, shares = [{ alias: chosen, tokens }] }) => shares);
}

type Made = Used & Readonly<{ ok: true; text: string } | { ok: false; passing: boolean; cause: string }>;

type Asking = Readonly<{ model: Model; limit: number; room: number; signal: AbortSignal }>;

async function summarise(
  messages: readonly Anthropic.MessageParam[],
  { model, limit, room, signal }: Asking,
): Promise<Made> {
  const words = Math.round(limit / tokensPerWord);
  try {
    const request = summaryRequest(messages, { words, room });
    const { content, stopReason, tokens, shares } = await model.complete(request, signal);
    const text = content
      .map((block) => (block.type === 'text' ? block.text : ''))
      .join('')
      .trim();
    const failed = (cause: string): Made => ({ ok: false, passing: false, cause, tokens, shares });
    if (stopReason !== 'end_turn' && stopReason !== 'stop_sequence') return failed(stopReason);
    if (text === '') return failed('an empty summary');
    if (estimateTokens(text) > Math.min(limit * 2, estimateTokens(messages)))
      return failed('a summary that is too long');
    return { ok: true, text, tokens, shares };
  } catch (error) {
    if (signal.aborted) return { ok: false, passing: true, cause: 'aborted', tokens: noTokens };
    if (!(error instanceof ModelError)) throw error;
    return { ok: false, passing: error.passing, cause: error.message, tokens: noTokens };
  }
}

function trimmed(previous: Summary | undefined, limit: number): string {
  const kept = previous?.text.replaceAll(leftOut, '').trim() ?? '';
  return kept === '' ? leftOut : `${truncate(kept, limit * 4).text}\n\n${leftOut}`;
}

function sendersOf(older: readonly Entry[]): readonly string[] {
  const senders = older.flatMap((entry) => {
    if (entry.kind === 'summary') return entry.senders ?? [];
    return entry.kind === 'user' && entry.sender !== undefined ? [entry.sender] : [];
  });
  return [...new Set(senders)].toSorted();
}

/**
 * Tokens of a request: those that the model reported, plus an estimate for later entries. Without a plausible report,
 * the estimate times `tokenFactor`.
 */
export function promptSize(request: ModelRequest, entries: readonly Entry[], tokenFactor = 1): number {
  const estimated = estimateTokens(withoutDeferred(request)) * tokenFactor;
  const last = entries.findLastIndex(({ kind }) => kind === 'assistant');
  const answer = entries[last];
  if (answer?.kind !== 'assistant' || last < newestSummary(entries).at) return estimated;
  const { input, cacheRead, cacheWrite, output }: Tokens = answer.tokens;
  const reported = input + cacheRead + cacheWrite + output;
  const since = entries.slice(last + 1).reduce((sum, entry) => sum + estimateTokens(entry), 0);
  const size = reported + (since - stubbedSince(entries, last)) * tokenFactor;
  return size * 2 < estimated ? estimated : size;
}

/** Tools that are found by a search take no room before (M20). */
function withoutDeferred(request: ModelRequest): ModelRequest {
  return { ...request, tools: request.tools.filter((tool) => !isDeferredTool(tool)) };
}

/** Tokens of instructions for which later turns have only one line (T6). */
function stubbedSince(entries: readonly Entry[], last: number): number {
  if (beginningOfLastTurn(entries) <= last) return 0;
  const before = entries.slice(0, last);
  return before
    .slice(beginningOfLastTurn(before))
    .reduce((sum, entry) => sum + estimateTokens(entry) - estimateTokens(asStub(entry)), 0);
}
