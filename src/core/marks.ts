/**
 * Something holds, or stands for, what a sensitive skill or a capability gave (S7): the name of the skill where all of it is that
 * skill's own, `true` where it is anything else. Whoever reads on from it is marked as it is.
 */
export type Marks = string | true;

/** The mark of what holds both: still one skill's own where both are that skill's. */
export function joinMarks(one: Marks | undefined, other: Marks | undefined): Marks | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one === other ? one : true;
}
