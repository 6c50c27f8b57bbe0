import { setTimeout as delay } from 'node:timers/promises';
import { messagesIn } from '../lean/lean-model.ts';
import { until } from '../until.ts';
import type { Ground } from './mishaps.ts';

/** Who lives says so every three seconds: after six, lanes without a word since are those of the dead. */
export const silentMs = 6_000;

export type Before = Readonly<{ at: number; serverTime: unknown }>;

/** An answer that is to come. `id`: of the process that has it, if asked for. */
export type Expected = Readonly<{ id: number; chat: number; text: string }>;

/** What was at work in lanes whose job, taken before, has had no sign of life since. */
export async function heldSince(
  ground: Ground,
  { serverTime }: Before,
  waitMs = silentMs,
): Promise<readonly Expected[]> {
  await delay(waitMs);
  return nextOf(
    ground,
    `SELECT 0 AS id, name, data ->> 'lane' AS lane FROM skillet_jobs.job_common
    WHERE state = 'active' AND heartbeat_on <= '${String(serverTime)}'::timestamptz`,
  );
}

const everyLane = `SELECT 0 AS id, 'inbox/' AS name, lane FROM skillet.inbox UNION SELECT 0, 'outbox/', lane FROM skillet.outbox`;
export const lanesOfProcesses = `SELECT id, queue AS name, lane FROM skillet.processes, jsonb_to_recordset(held) AS h (queue text, lane text)`;

/** Of these processes, those whose session with the database has ended; waits for the first. */
export async function withoutSession(
  { server, url }: Ground,
  of: readonly Expected[],
): Promise<ReadonlySet<number>> {
  const ids = [...new Set(of.map(({ id }) => id))].join(', ') || '0';
  const gone = new Set<number>();
  await until(async () => {
    const rows = await server.run(
      url,
      `SELECT id FROM unnest(ARRAY[${ids}]::bigint[]) AS id WHERE pg_try_advisory_xact_lock(id)`,
    );
    for (const { id } of rows) gone.add(Number(id));
    return gone.size > 0;
  });
  return gone;
}

/** The next answer of each of these lanes, written or sent: what stands at their head. */
export async function nextOf({ server, url }: Ground, lanes = everyLane): Promise<readonly Expected[]> {
  const rows = await server.run(
    url,
    `WITH lanes AS (${lanes})
     SELECT id, lane, (SELECT parts::json -> 0 -> 'message' ->> 'text' FROM skillet.inbox
       WHERE inbox.lane = lanes.lane AND status = 'waiting' ORDER BY seq LIMIT 1) AS text
     FROM lanes WHERE name LIKE 'inbox/%'
     UNION ALL
     SELECT id, lane, (SELECT coalesce(part::json -> 'file' ->> 'name', part::json ->> 'markdown') FROM skillet.outbox
       WHERE outbox.lane = lanes.lane AND finished_at IS NULL ORDER BY seq LIMIT 1)
     FROM lanes WHERE name LIKE 'outbox/%'`,
  );
  return rows
    .filter(({ text }) => text !== null)
    .flatMap(({ id, lane, text }) =>
      messagesIn(String(text)).map((each) => ({
        id: Number(id),
        chat: Number(String(lane).split(':')[1]),
        text: each,
      })),
    );
}
