import type { Clock } from '../../core/clock.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Log } from '../../core/log.ts';
import type { Outbox, OutboxRow, Step } from '../store.ts';
import { readStored, type ReadJson } from '../stored-json.ts';
import { storedConversation, storedPart } from '../stored-message.ts';
import type { Connection } from './open-connection.ts';

type Row = Readonly<{
  seq: number;
  key: string;
  lane: string;
  conversation: string;
  part: string;
  status: OutboxRow['status'];
  tries: number;
  repeats: number;
}>;

/** The outbox on the embedded store. `add` belongs inside a step's transaction; a key that is there already is left alone (Q6). */
export function createOutbox(
  connection: Connection,
  clock: Clock,
  log: Log,
): Outbox & Readonly<{ add(row: NonNullable<Step['outbox']>[number]): void }> {
  const insert = connection.prepare(
    `INSERT INTO outbox (key, lane, conversation, part, status, due_at)
     VALUES (?, ?, ?, ?, 'waiting', 0) ON CONFLICT (key) DO NOTHING`,
  );
  const heads = connection.prepare<Row>(
    `SELECT seq, key, lane, conversation, part, status, tries, repeats FROM outbox
     WHERE seq IN (SELECT MIN(seq) FROM outbox WHERE finished_at IS NULL GROUP BY lane)
       AND (status = 'sending' OR due_at <= ?) ORDER BY seq`,
  );
  const next = connection.prepare<Readonly<{ at: number | null }>>(
    'SELECT MIN(due_at) AS at FROM outbox WHERE finished_at IS NULL AND due_at > ?',
  );
  const count = connection.prepare<Readonly<{ unsent: number }>>(
    'SELECT COUNT(*) AS unsent FROM outbox WHERE finished_at IS NULL AND lane = ?',
  );
  const sending = connection.prepare(`UPDATE outbox SET status = 'sending' WHERE key = ?`);
  const sent = connection.prepare(
    `UPDATE outbox SET status = 'sent', receipt = ?, finished_at = ? WHERE key = ?`,
  );
  const retry = connection.prepare(
    `UPDATE outbox SET status = 'waiting', tries = tries + 1, error = ?, due_at = ?
     WHERE finished_at IS NULL AND key = ?`,
  );
  const dead = connection.prepare(
    `UPDATE outbox SET status = 'dead', error = ?, finished_at = ? WHERE finished_at IS NULL AND key = ?`,
  );
  const repeated = connection.prepare('UPDATE outbox SET repeats = repeats + 1 WHERE key = ?');

  function giveUp(key: string, error: string): void {
    connection.write('process', () => dead.run(error, clock.now(), key));
  }

  function readDue(now: number): readonly OutboxRow[] {
    const read = heads.all(now).map((row) => ({ row, result: readRow(row) }));
    for (const { row, result } of read) {
      if (result.ok) continue;
      log.error(
        { outbox: row.key, lane: row.lane, reason: result.reason },
        'a stored part is damaged and was given up',
      );
      giveUp(row.key, `The stored part ${result.reason}`);
    }
    // A damaged head makes room for the row behind it.
    return read.every(({ result }) => result.ok)
      ? read.flatMap(({ result }) => (result.ok ? [result.value] : []))
      : readDue(now);
  }

  return {
    add({ key, conversation, part }) {
      const place = JSON.stringify(conversation);
      insert.run(key, conversationKey(conversation), place, JSON.stringify(part));
    },
    async due(now) {
      const rows = readDue(now);
      const at = next.get(now)?.at ?? undefined;
      return { rows, ...(at === undefined ? {} : { nextAt: at }) };
    },
    async sending(key) {
      connection.write('process', () => sending.run(key));
    },
    async sent(key, receipt) {
      connection.write('process', () => sent.run(JSON.stringify(receipt), clock.now(), key));
    },
    async retry(key, error, at) {
      connection.write('process', () => retry.run(error, at, key));
    },
    dead: async (key, error) => giveUp(key, error),
    async repeated(key) {
      connection.write('process', () => repeated.run(key));
    },
    pending: async (conversation) => count.get(conversationKey(conversation))?.unsent ?? 0,
  };
}

function readRow({ key, conversation, part, status, tries, repeats }: Row): ReadJson<OutboxRow> {
  const place = readStored(storedConversation, conversation);
  if (!place.ok) return place;
  const what = readStored(storedPart, part);
  if (!what.ok) return what;
  return {
    ok: true,
    value: { key, conversation: place.value, part: what.value, status, tries, repeats },
  };
}
