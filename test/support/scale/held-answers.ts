import { messagesIn } from '../lean/lean-model.ts';
import type { Ground } from './mishaps.ts';

/** An answer that is to come, of a turn that goes on, or written and to be sent. */
export type Expected = Readonly<{ chat: number; text: string; of: 'turn' | 'send' }>;

/** What the process of this name (all, without one) is at work on: the question of a turn, or what it is to send next. */
export async function heldBy({ server, url, fleet }: Ground, name?: string): Promise<readonly Expected[]> {
  const pid = name === undefined ? null : fleet.running(name)?.pid;
  const rows = await server.run(
    url,
    `WITH held AS (
       SELECT "jobQueue", queue FROM skillet.processes JOIN skillet.running USING (id),
         jsonb_to_recordset(held) AS held ("jobQueue" text, queue text)
       WHERE pid = coalesce($1, pid))
     SELECT 'turn' AS of, queue, (SELECT parts::json -> 0 -> 'message' ->> 'text' FROM skillet.inbox
       WHERE inbox.queue = held.queue AND status = 'waiting' AND taken_at IS NOT NULL ORDER BY seq LIMIT 1) AS text
     FROM held WHERE "jobQueue" LIKE 'inbox/%'
     UNION
     SELECT 'send', queue, (SELECT coalesce(part::json -> 'file' ->> 'name', part::json ->> 'markdown') FROM skillet.outbox
       WHERE outbox.queue = held.queue AND finished_at IS NULL ORDER BY seq LIMIT 1)
     FROM held WHERE "jobQueue" LIKE 'outbox/%'`,
    [pid],
  );
  return rows
    .filter(({ text }) => text !== null)
    .flatMap(({ of, queue, text }) =>
      messagesIn(String(text)).map((each) => ({
        chat: Number(String(queue).split(':')[1]),
        text: each,
        of: of === 'turn' ? 'turn' : 'send',
      })),
    );
}
