import type { Entry } from './entry.ts';

/**
 * Something holds, or stands for, what a sensitive skill or a capability gave (S7): the name of the skill where all of it is that
 * skill's own, `true` where it is anything else. Anyone who reads on from it is marked as it is.
 */
export type Taint = string | true;

/** The mark of what holds both: still one skill's own where both are that skill's. */
export function joinTaint(one: Taint | undefined, other: Taint | undefined): Taint | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one === other ? one : true;
}

/** How entries are marked all together; undefined if none is (S7). `damaged` is how many more can't be read: one of them might be marked. */
export function taintIn(entries: readonly Entry[], damaged = 0): Taint | undefined {
  const unknown = damaged > 0 ? true : undefined;
  return entries.reduce<Taint | undefined>(
    (marks, entry) => ('marks' in entry ? joinTaint(marks, entry.marks) : marks),
    unknown,
  );
}
