import { conversationKey } from '../../core/conversation.ts';
import type { Step } from '../store.ts';
import type { Leases } from './lease.ts';
import type { Query } from './open-database.ts';

/**
 * All tables of a step in one statement: entries and when they were said, parts to send (known keys are left as they are),
 * sums of usage, and the end of an item. Rows that many write are taken in one order, so that two steps never wait for
 * each other.
 */
const statement = `WITH held AS MATERIALIZED (SELECT skillet.held($1, $2, $3, true) AS yes),
  added AS (
    INSERT INTO skillet.entries (transcript, kind, entry)
    SELECT transcript, kind, entry FROM unnest($4::text[], $5::text[], $6::text[])
      WITH ORDINALITY AS new (transcript, kind, entry, place)
    WHERE (SELECT yes FROM held) ORDER BY place
  ),
  times AS (
    INSERT INTO skillet.transcript_times AS kept (transcript, last_at)
    SELECT transcript, max(at) FROM unnest($4::text[], $7::bigint[]) AS new (transcript, at)
    WHERE (SELECT yes FROM held) GROUP BY transcript ORDER BY transcript
    ON CONFLICT (transcript) DO UPDATE SET last_at = greatest(kept.last_at, excluded.last_at)
  ),
  parts AS (
    INSERT INTO skillet.outbox (key, lane, conversation, part, status)
    SELECT key, lane, conversation, part, 'waiting' FROM unnest($8::text[], $9::text[], $10::text[], $11::text[])
      WITH ORDINALITY AS new (key, lane, conversation, part, place)
    WHERE (SELECT yes FROM held) ORDER BY place ON CONFLICT (key) DO NOTHING
  ),
  uses AS (
    INSERT INTO skillet.usage AS kept
      (day, sender, conversation, skill, model, requests, input, output, cache_read, cache_write)
    SELECT day, sender, conversation, skill, model, count(*), sum(input), sum(output), sum(cache_read), sum(cache_write)
    FROM unnest($12::text[], $13::text[], $14::text[], $15::text[], $16::text[],
      $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[])
      AS new (day, sender, conversation, skill, model, input, output, cache_read, cache_write)
    WHERE (SELECT yes FROM held)
    GROUP BY day, sender, conversation, skill, model ORDER BY day, sender, conversation, skill, model
    ON CONFLICT (day, sender, conversation, skill, model) DO UPDATE SET requests = kept.requests + excluded.requests,
      input = kept.input + excluded.input, output = kept.output + excluded.output,
      cache_read = kept.cache_read + excluded.cache_read, cache_write = kept.cache_write + excluded.cache_write
  ),
  done AS (
    UPDATE skillet.inbox
    SET status = 'done', parts = '', join_key = NULL, taken_at = NULL, finished_at = $22
    WHERE (SELECT yes FROM held) AND status IN ('waiting', 'dead')
      AND seq = (SELECT item FROM skillet.inbox_keys WHERE key = $21)
  )
  SELECT yes FROM held`;

/** Writes a step but for its work: whole and to the disk, or, where the lane it is written for was lost, not at all. */
export async function writeStep(
  leases: Leases,
  query: Query,
  { entries = [], outbox = [], usage = [], done }: Step,
  now: number,
): Promise<void> {
  await leases.fenced(query, statement, [
    entries.map(({ transcript }) => transcript),
    entries.map(({ entry }) => entry.kind),
    entries.map(({ entry }) => JSON.stringify(entry)),
    entries.map(({ entry }) => Math.trunc(entry.at)),
    outbox.map(({ key }) => key),
    outbox.map(({ conversation }) => conversationKey(conversation)),
    outbox.map(({ conversation }) => JSON.stringify(conversation)),
    outbox.map(({ part }) => JSON.stringify(part)),
    usage.map(({ day }) => day),
    usage.map(({ sender }) => sender),
    usage.map(({ conversation }) => conversation),
    usage.map(({ skill }) => skill),
    usage.map(({ model }) => model),
    usage.map(({ tokens }) => tokens.input),
    usage.map(({ tokens }) => tokens.output),
    usage.map(({ tokens }) => tokens.cacheRead),
    usage.map(({ tokens }) => tokens.cacheWrite),
    done ?? null,
    now,
  ]);
}
