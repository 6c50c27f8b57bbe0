import type { PostgresParts } from './create-postgres-store.ts';
import { createPostgresBatch } from './create-batch.ts';
import type { Claim, QueueKind } from './lease.ts';
import { lockOf } from './job-queue-of.ts';

export type QueueTurn = Readonly<{
  claim: Claim;
  /** If true, the queue makes room for others, although more in it may be due. */
  yields: boolean;
  waitMs: number;
}>;

/**
 * What follows for a queue. `again`: more is due and it continues here. `gone`: it is empty. `later`: it has a job.
 * `lost`: another process has it.
 */
export type GiveBackOutcome = Readonly<{ next: 'again' | 'gone' | 'lost' } | { next: 'later'; inMs: number }>;

const most = 100;

/**
 * Returns queues under the lock that adding work takes too, so that no waiting item is without a job. Queues that end
 * together share a statement.
 */
export function createGiveBack(
  { database, clock }: PostgresParts,
  kind: QueueKind,
): (turn: QueueTurn) => Promise<GiveBackOutcome> {
  return createPostgresBatch<QueueTurn, GiveBackOutcome>(async (turns) => {
    const { rows } = await database.query<Readonly<{ outcomes: readonly string[] }>>(
      'SELECT skillet.give_back($1, $2, $3, $4, $5, $6, $7, $8, $9) AS outcomes',
      [
        kind,
        turns.map(({ claim }) => String(lockOf(kind, claim.queue))),
        turns.map(({ claim }) => claim.queue),
        turns.map(({ claim }) => claim.jobQueue),
        turns.map(({ claim }) => claim.job.id),
        turns.map(({ claim }) => claim.job.retryCount),
        turns.map(({ yields }) => yields),
        turns.map(({ waitMs }) => waitMs),
        clock.now(),
      ],
    );
    return turns.map((_, place) => outcomeOf(rows[0]?.outcomes[place]));
  }, most);
}

function outcomeOf(said: string | undefined): GiveBackOutcome {
  if (said === 'again' || said === 'gone' || said === 'lost') return { next: said };
  return { next: 'later', inMs: Number(said) };
}
