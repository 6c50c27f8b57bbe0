import type { Entry } from '../core/entry.ts';
import type { Followed } from '../core/followed.ts';

/** The skills that the turn under way was given the instructions of, in order (T6). */
export function followedInTurn(entries: readonly Entry[]): readonly Followed[] {
  return entries.slice(beginningOfLastTurn(entries)).flatMap((entry) => followedBy(entry) ?? []);
}

/** What an entry binds the turn to. */
export function followedBy(entry: Entry): Followed | undefined {
  return entry.kind === 'user' || entry.kind === 'tool_result' ? entry.follows : undefined;
}

/**
 * The entries with the instructions that earlier turns followed as one line each: they hold for their own turn only (T6).
 * Pairs of calls and results stay whole. The same entries give the same bytes, and every later turn the same (M5).
 */
export function stubFollowed(entries: readonly Entry[]): readonly Entry[] {
  const turn = beginningOfLastTurn(entries);
  return entries.map((entry, index) => (index < turn ? asStub(entry) : entry));
}

/** Skills whose instructions the turn under way was given and a summary has taken out of view. */
export function followedUnseen(entries: readonly Entry[], view: readonly Entry[]): readonly string[] {
  const seen = new Set(followedInTurn(view).map(({ skill }) => skill));
  const all = followedInTurn(entries).map(({ skill }) => skill);
  return [...new Set(all)].filter((skill) => !seen.has(skill));
}

/** One entry as later turns show it. */
export function asStub(entry: Entry): Entry {
  const followed = followedBy(entry);
  if (followed === undefined || (entry.kind !== 'user' && entry.kind !== 'tool_result')) return entry;
  return { ...entry, content: `[Skill ${followed.skill} was followed here]` };
}

/** Whether a person's words begin a turn: what joined a running one does not (H11). */
export function beginsTurn(entry: Entry): boolean {
  return entry.kind === 'user' && entry.sender !== undefined && entry.joins === undefined;
}

/** Index of what the person said last, from which on a turn goes; where no sender is noted, of the last thing said. */
export function beginningOfLastTurn(entries: readonly Entry[]): number {
  const signed = entries.findLastIndex(beginsTurn);
  return Math.max(0, signed >= 0 ? signed : entries.findLastIndex(({ kind }) => kind === 'user'));
}
