import type { Entry } from '../core/entry.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { isShown, requestsAmong } from './view-entries.ts';

/** Which entries a summary is to stand for: those before `cut`, and of the turn from there on those before `tail`, but for the person's own words. */
export type CompactionPlan = Readonly<{ cut: number; tail: number }>;

/**
 * Where to cut (M9): as many whole turns stay verbatim as fit `room`, the one that began at `start` always; if that one
 * alone takes more than `turnRoom`, it is cut inside, between complete tool pairs. Nothing where less than `worth`
 * would become shorter. All in estimated tokens. Pure.
 */
export function planCompaction(
  entries: readonly Entry[],
  start: number,
  limits: Readonly<{ room: number; turnRoom: number; worth: number }>,
): CompactionPlan | undefined {
  const shown = isShown(entries);
  const weights = entries.map((entry, index) => (shown(index) ? weightOf(entry) : 0));
  const weigh = (from: number, to = entries.length): number =>
    weights.slice(from, to).reduce((sum, weight) => sum + weight, 0);
  const weighWords = (from: number, to: number): number =>
    [...requestsAmong(entries, from, to)].reduce((sum, index) => sum + (weights[index] ?? 0), 0);

  // What an earlier summary stands for comes back to view nowhere.
  const hidden = entries.findLastIndex(({ kind }, index) => kind !== 'summary' && !shown(index)) + 1;
  const turn = beginningOfTurn(entries, start);
  if (hidden > turn || weigh(turn) > limits.turnRoom) {
    const room = limits.room - weighWords(turn, entries.length);
    const tail = Math.max(
      hidden,
      cutInside(entries, turn, (index) => weigh(index) <= room),
    );
    const gain = weigh(0, tail) - weighWords(turn, tail);
    if (gain <= 0 || gain < limits.worth) return undefined;
    const folds = hidden > turn || weigh(turn, tail) > weighWords(turn, tail);
    return { cut: turn, tail: folds ? tail : turn };
  }
  const cut =
    indexes(hidden, turn).find((index) => isBetweenTurns(entries, index) && weigh(index) <= limits.room) ??
    turn;
  const gain = weigh(0, cut);
  return gain <= 0 || gain < limits.worth ? undefined : { cut, tail: cut };
}

function weightOf(entry: Entry): number {
  const brokeOff = entry.kind === 'assistant' && entry.stopReason === 'model_context_window_exceeded';
  return brokeOff || entry.kind === 'summary' ? 0 : estimateTokens(entry);
}

function isBetweenTurns(entries: readonly Entry[], index: number): boolean {
  const entry = entries[index];
  if (entry?.kind !== 'user' || entry.joins !== undefined) return false;
  return entries[index - 1]?.kind !== 'user' && isBetweenPairs(entries, index);
}

/** The first of the things said that the model had not answered yet when the turn began. */
function beginningOfTurn(entries: readonly Entry[], start: number): number {
  let index = start;
  while (index > 0 && !isBetweenTurns(entries, index)) index--;
  return index;
}

/** The earliest place inside the turn from which on it fits, else the latest possible. */
function cutInside(entries: readonly Entry[], turn: number, fits: (index: number) => boolean): number {
  const places = indexes(turn + 1, latestCut(entries, turn)).filter(
    (index) => isBetweenSteps(entries, index) && isBetweenPairs(entries, index),
  );
  return places.find(fits) ?? places.at(-1) ?? turn;
}

/** What the host said after the last answer, and an answer that is still being gone on with, must be in view. */
function latestCut(entries: readonly Entry[], turn: number): number {
  const last = entries.findLastIndex(({ kind }) => kind === 'assistant');
  const said = entries.findIndex(({ kind }, index) => index > Math.max(last, turn) && kind === 'notice');
  return said < 0 ? entries.length : said;
}

/** No answer before the index is gone on with after it: cut off at its length, or paused. */
function isBetweenSteps(entries: readonly Entry[], index: number): boolean {
  const entry = entries[index];
  if (entry?.kind === 'tool_started' || entry?.kind === 'tool_result') return false;
  const before = entries.slice(0, index).findLast(({ kind }) => kind === 'assistant');
  return before?.kind !== 'assistant' || !['max_tokens', 'pause_turn'].includes(before.stopReason);
}

/** No call before the index has its start or result after it. */
function isBetweenPairs(entries: readonly Entry[], index: number): boolean {
  const next = entries.findIndex(({ kind }, at) => at >= index && kind === 'assistant');
  const following = entries.slice(index, next < 0 ? undefined : next);
  return following.every(({ kind }) => kind !== 'tool_started' && kind !== 'tool_result');
}

function indexes(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, offset) => from + offset);
}
