import { messagesIn } from '../lean/lean-model.ts';
import type { Ground } from './mishaps.ts';

/** An answer that is to come. */
export type Expected = Readonly<{ chat: number; text: string }>;

/** What the process of this name (all, without one) is at work on: the question of a turn, or what it is to send next. */
export async function heldBy({ server, url, fleet }: Ground, name?: string): Promise<readonly Expected[]> {
  const pid = name === undefined ? null : fleet.running(name)?.pid;
  const rows = await server.run(
    url,
    `WITH held AS (
       SELECT queue, lane FROM skillet.processes JOIN skillet.running USING (id),
         jsonb_to_recordset(held) AS held (queue text, lane text)
       WHERE pid = coalesce($1, pid))
     SELECT lane, (SELECT parts::json -> 0 -> 'message' ->> 'text' FROM skillet.inbox
       WHERE inbox.lane = held.lane AND status = 'waiting' AND taken_at IS NOT NULL ORDER BY seq LIMIT 1) AS text
     FROM held WHERE queue LIKE 'inbox/%'
     UNION
     SELECT lane, (SELECT coalesce(part::json -> 'file' ->> 'name', part::json ->> 'markdown') FROM skillet.outbox
       WHERE outbox.lane = held.lane AND finished_at IS NULL ORDER BY seq LIMIT 1)
     FROM held WHERE queue LIKE 'outbox/%'`,
    [pid],
  );
  return rows
    .filter(({ text }) => text !== null)
    .flatMap(({ lane, text }) =>
      messagesIn(String(text)).map((each) => ({ chat: Number(String(lane).split(':')[1]), text: each })),
    );
}
