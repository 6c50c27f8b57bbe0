import type { SendMarks } from '../outbox.ts';
import type { PostgresParts } from './create-postgres-store.ts';
import { createPostgresBatch } from './create-batch.ts';
import { fenceValues, lost, type Fence } from './lease.ts';

const batchSize = 200;
type Sending = Readonly<{ key: string; fence: Fence }>;
type Sent = Readonly<{ key: string; receipt: string }>;

export function createPostgresParts({ database, leases, clock }: PostgresParts): SendMarks {
  const beginSend = createPostgresBatch<Sending, undefined | typeof lost>(async (sendings) => {
    const { rows } = await database.query<Readonly<{ held: readonly boolean[] }>>(
      'SELECT skillet.begin_sends($1, $2, $3, $4, $5) AS held',
      [...fenceValues(sendings.map(({ fence }) => fence)), sendings.map(({ key }) => key)],
    );
    return sendings.map((_, n) => (rows[0]?.held[n] === true ? undefined : lost));
  }, batchSize);

  const noteSent = createPostgresBatch<Sent, undefined>(async (sent) => {
    await database.query(
      `UPDATE skillet.outbox SET status = 'sent', receipt = new.receipt, finished_at = $3
       FROM unnest($1::text[], $2::text[]) AS new (key, receipt) WHERE outbox.key = new.key`,
      [sent.map(({ key }) => key), sent.map(({ receipt }) => receipt), clock.now()],
    );
    return sent.map(() => undefined);
  }, batchSize);

  return {
    // Resolves once it is on disk, before the platform gets the part.
    sending: (key) => leases.fenced((fence) => beginSend({ key, fence })),
    // Not fenced, because it stays true no matter which process holds the conversation.
    sent: (key, receipt) => noteSent({ key, receipt: JSON.stringify(receipt) }),
  };
}
