import type { Judgement, Ruled } from './judge-record.ts';
import type { RehearsalRecord, RehearsedCase } from './rehearsal-record.ts';

/** Cases that would be decided otherwise, in the same way and by the same rule. */
export type Difference = Readonly<{
  now: Ruled['is'];
  before: Ruled['is'];
  code?: string | undefined;
  reason: string;
  rule: string;
  /** How many cases, and the first of them. */
  count: number;
  first: RehearsedCase;
}>;

export type Compared = Readonly<{
  judged: Readonly<Record<RehearsedCase['kind'], number>>;
  notJudged: Readonly<Record<string, number>>;
  differences: readonly Difference[];
  skills: readonly Readonly<{ who: string; more: readonly string[]; fewer: readonly string[] }>[];
  usd: Readonly<{ before: number; after: number; unpriced: number }>;
  /** Cases that the config in force would decide otherwise today than it was decided then. */
  changedSince: number;
}>;

/** Says what another config, or another version, would decide otherwise (L20). */
export function compareJudgements(
  { cases, notJudged }: RehearsalRecord,
  before: Judgement,
  after: Judgement,
): Compared {
  const judged = { message: 0, skill: 0, call: 0, press: 0 };
  const differences = new Map<string, Difference>();
  let changedSince = 0;
  for (const [index, first] of cases.entries()) {
    const [was, is] = [before.verdicts[index], after.verdicts[index]];
    if (was === undefined || is === undefined)
      throw new Error('a judgement has fewer verdicts than the record has cases');
    judged[first.kind] += 1;
    if (wasAllowed(first) !== (was.is !== 'refused')) changedSince += 1;
    if (was.is === is.is) continue;
    const { code, reason, rule } = is;
    const key = JSON.stringify([first.kind, was.is, is.is, reason, rule]);
    const count = (differences.get(key)?.count ?? 0) + 1;
    differences.set(key, {
      now: is.is,
      before: was.is,
      code,
      reason,
      rule,
      first: differences.get(key)?.first ?? first,
      count,
    });
  }
  const who = Object.keys(before.seen).filter((one) => after.seen[one] !== undefined);
  const skills = who.flatMap((one) => {
    const [old, now] = [new Set(before.seen[one]), new Set(after.seen[one])];
    const [more, fewer] = [[...now.difference(old)], [...old.difference(now)]];
    return more.length + fewer.length === 0 ? [] : [{ who: one, more, fewer }];
  });
  const usd = { before: before.usd, after: after.usd, unpriced: after.unpriced };
  const sorted = [...differences.values()].sort((a, b) => b.count - a.count);
  return { judged, notJudged, differences: sorted, skills, usd, changedSince };
}

/** Whether the record says that it was let through, with or without a question. */
function wasAllowed({ kind, was }: RehearsedCase): boolean {
  switch (kind) {
    case 'message':
      return was === 'answered';
    case 'skill':
      return was === 'used';
    case 'call':
      return ['allowed', 'approved', 'unanswered', ''].includes(was);
    case 'press':
      return true;
  }
}
