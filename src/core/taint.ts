import type { Entry } from './entry.ts';

/**
 * Something holds, or stands for, what a sensitive skill or a capability gave (S7): the name of the skill where all of it is that
 * skill's own, `true` where it is anything else. Anyone who reads on from it is marked as it is.
 */
export type Marks = string | true;

/** The mark of what holds both: still one skill's own where both are that skill's. */
export function joinMarks(one: Marks | undefined, other: Marks | undefined): Marks | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one === other ? one : true;
}

/** How entries are marked all together; undefined if none is (S7). `damaged` is how many more can't be read: one of them might be marked. */
export function markIn(entries: readonly Entry[], damaged = 0): Marks | undefined {
  const unknown = damaged > 0 ? true : undefined;
  return entries.reduce<Marks | undefined>(
    (marks, entry) => ('marks' in entry ? joinMarks(marks, entry.marks) : marks),
    unknown,
  );
}
