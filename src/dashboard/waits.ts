import { OperatorError } from '../core/errors.ts';
import type { Operate } from '../operator/operations.ts';

/** How much waits for the operator, by what it is. */
export type Waits = Readonly<{
  approvals: number;
  people: number;
  skills: number;
  letters: number;
  tools: number;
}>;

/** Counts what waits. A part that can't be asked for, such as one of a feature that was removed, counts as nothing. */
export async function countWaits(ask: Operate, now: number): Promise<Waits> {
  const [approvals, money, pairs, written, status] = await Promise.all([
    ask('approval list').catch(unlessKnown),
    ask('money list').catch(unlessKnown),
    ask('pair list').catch(unlessKnown),
    ask('skill written').catch(unlessKnown),
    ask('status').catch(unlessKnown),
  ]);
  const open = [...(approvals ?? []), ...(money ?? [])].filter(({ expiresAt }) => expiresAt > now);
  return {
    approvals: open.length,
    people: pairs?.pending.length ?? 0,
    skills: (written ?? []).filter(({ hashes, approved }) => approved === undefined || hashes[0] !== approved)
      .length,
    letters: (status?.backlog.inboxDead ?? 0) + (status?.failedDeliveries ?? 0),
    tools: (status?.servers ?? []).reduce((sum, { waiting }) => sum + waiting, 0),
  };
}

function unlessKnown(error: unknown): undefined {
  if (!(error instanceof OperatorError)) throw error;
}
