import type { Entry } from '../core/entry.ts';

export type Summary = Extract<Entry, { kind: 'summary' }>;

/**
 * What a model is shown of a transcript: the newest summary, the entries it keeps, what came after (M9). Of a folded turn
 * the person's own words stay. The same entries give the same view, and a longer transcript only adds to it (M5).
 */
export function viewEntries(entries: readonly Entry[]): readonly Entry[] {
  const { at, summary } = newestSummary(entries);
  if (summary === undefined) return entries;
  const shown = isShown(entries);
  return [summary, ...entries.filter((_, index) => index !== at && shown(index))];
}

/** Whether the entry at an index stands in the view. The newest summary does; those before it do not. */
export function isShown(entries: readonly Entry[]): (index: number) => boolean {
  const { at, summary } = newestSummary(entries);
  if (summary === undefined) return () => true;
  const first = Math.max(0, at - summary.kept);
  // Counted from the end: an entry that is damaged and gone takes nothing of the latest with it.
  const whole = at - Math.max(0, summary.kept - (summary.folded ?? 0));
  const words = requestsAmong(entries, first, whole);
  return (index) =>
    index >= first &&
    (index >= whole || words.has(index)) &&
    (index === at || entries[index]?.kind !== 'summary');
}

export function newestSummary(
  entries: readonly Entry[],
): Readonly<{ at: number; summary: Summary | undefined }> {
  const at = entries.findLastIndex(({ kind }) => kind === 'summary');
  const summary = entries[at];
  return { at, summary: summary?.kind === 'summary' ? summary : undefined };
}

/** Indexes of what a person said; where no sender is noted, of the last thing said. */
export function requestsAmong(entries: readonly Entry[], from: number, to: number): ReadonlySet<number> {
  const said: number[] = [];
  const signed: number[] = [];
  for (let index = from; index < to; index++) {
    const entry = entries[index];
    if (entry?.kind !== 'user') continue;
    said.push(index);
    if (entry.sender !== undefined) signed.push(index);
  }
  return new Set(signed.length > 0 ? signed : said.slice(-1));
}
