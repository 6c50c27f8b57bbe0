import type { Backing } from './create-postgres-store.ts';
import { createBatch } from './create-batch.ts';
import type { Claim, Kind } from './lease.ts';
import { lockOf } from './queue-of.ts';

/** A lane whose turn is over. */
export type Turn = Readonly<{
  claim: Claim;
  /** It makes room for others, though more of it may be due. */
  yields: boolean;
  /** Milliseconds that it has to wait at least. */
  waitMs: number;
}>;

/** What became of it: it continues here (more of it is due), or was given back (empty, or with a job for later), or is another process's. */
export type Outcome = Readonly<{ next: 'again' | 'gone' | 'lost' } | { next: 'later'; inMs: number }>;

/** Lanes given back in one statement. */
const most = 100;

/**
 * Gives lanes of one kind back, so that no waiting item is without a job: anyone who adds work to a lane holds the same lock.
 * Lanes that end together share a statement.
 */
export function createGiveBack(
  { database, clock }: Pick<Backing, 'database' | 'clock'>,
  kind: Kind,
): (turn: Turn) => Promise<Outcome> {
  return createBatch<Turn, Outcome>(async (turns) => {
    const { rows } = await database.query<Readonly<{ outcomes: readonly string[] }>>(
      'SELECT skillet.give_back($1, $2, $3, $4, $5, $6, $7, $8, $9) AS outcomes',
      [
        kind,
        turns.map(({ claim }) => String(lockOf(kind, claim.lane))),
        turns.map(({ claim }) => claim.lane),
        turns.map(({ claim }) => claim.queue),
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

function outcomeOf(said: string | undefined): Outcome {
  if (said === 'again' || said === 'gone' || said === 'lost') return { next: said };
  return { next: 'later', inMs: Number(said) };
}
