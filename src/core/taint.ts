import type { Entry } from './entry.ts';

/** Private data (S7): the skill's name if all is its own, else `true`. */
export type Taint = string | true;

/** One skill's own only if both are. */
export function joinTaint(one: Taint | undefined, other: Taint | undefined): Taint | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one === other ? one : true;
}

/** Of all entries together (S7). `damaged` ones might be marked. */
export function taintIn(entries: readonly Entry[], damaged = 0): Taint | undefined {
  const unknown = damaged > 0 ? true : undefined;
  return entries.reduce<Taint | undefined>(
    (marks, entry) => ('marks' in entry ? joinTaint(marks, entry.marks) : marks),
    unknown,
  );
}
