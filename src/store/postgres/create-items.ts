import { inboxColumns, type Accepted, type Inbox, type InboxRow } from '../inbox.ts';
import type { PostgresParts } from './create-postgres-store.ts';
import { createArrivals } from './create-arrivals.ts';
import { createPostgresBatch } from './create-batch.ts';
import { fenceValues, lost, type Fence } from './lease.ts';

type Taking = Readonly<{ queue: string; now: number; fence: Fence }>;
type TakenRow = InboxRow & Readonly<{ place: number; held: boolean; before: number | null }>;

const batchSize = 200;

export function createPostgresItems(
  backing: PostgresParts,
): Pick<Inbox, 'accept' | 'replace'> &
  Readonly<{ takeHead(queue: string, now: number): Promise<InboxRow | undefined> }> {
  const { database, leases } = backing;
  const arrive = createArrivals(backing);

  const takeHead = createPostgresBatch<Taking, InboxRow | undefined | typeof lost>(async (takings) => {
    const { rows } = await database.query<TakenRow>(
      `SELECT place, held, before, ${inboxColumns.replace(/\w+/g, '(item).$&')} FROM skillet.take($1, $2, $3, $4, $5, $6)`,
      [
        ...fenceValues(takings.map(({ fence }) => fence)),
        takings.map(({ queue }) => queue),
        takings[0]?.now ?? 0,
      ],
    );
    const taken = new Map(rows.map((row) => [row.place, row]));
    return takings.map((_, n) => {
      const row = taken.get(n + 1);
      if (row?.held === false) return lost;
      return row && { ...row, taken_at: row.before };
    });
  }, batchSize);

  return {
    accept: async (message, options) => (await arrive({ type: 'accept', message, options })) as Accepted,
    replace: async (message) =>
      (await arrive({ type: 'replace', message })) as 'replaced' | 'too_late' | 'unknown',
    takeHead: (queue, now) => leases.fenced((fence) => takeHead({ queue, now, fence })),
  };
}
