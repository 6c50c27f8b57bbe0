import { setImmediate } from 'node:timers/promises';
import { bounds, noText } from '../bounds.ts';
import type { Connection } from './open-connection.ts';

/** Rows removed in one transaction: a few milliseconds, so that messages are accepted in between. */
const batch = 500;

type Stale = Readonly<{ transcript: string }>;

/** `Store.prune` on the embedded store (Q2, Q12). */
export function createPrune(connection: Connection): (now: number, retentionMs: number) => Promise<void> {
  const oldest = (table: string, where: string, id = 'rowid') =>
    connection.prepare(
      `DELETE FROM ${table} WHERE ${id} IN (SELECT ${id} FROM ${table} WHERE ${where} < ? LIMIT ${batch})`,
    );
  const stale = [
    // Takes the item's keys with it.
    { rows: oldest('inbox', `status = 'done' AND finished_at`), keptMs: bounds.doneKeptMs },
    { rows: oldest('outbox', 'finished_at'), keptMs: bounds.sentKeptMs },
    { rows: oldest('shown', 'shown_at', 'key'), keptMs: bounds.shownKeptMs },
    { rows: oldest('asks', 'settled_at'), keptMs: bounds.settledKeptMs },
    { rows: oldest('overheard', 'heard_at'), keptMs: bounds.overheardKeptMs },
    { rows: oldest('keyed', 'expires_at'), keptMs: 0 },
    { rows: oldest('uses', 'used_at'), keptMs: bounds.usesKeptMs },
    { rows: oldest('capability_flows', 'expires_at'), keptMs: bounds.flowsKeptMs },
    { rows: oldest('capability_outcomes', 'kept_at', 'key'), keptMs: bounds.outcomesKeptMs },
  ];
  const dead = [
    oldest('inbox', `status = 'dead' AND accepted_at`),
    oldest('outbox', `status = 'dead' AND finished_at`),
    // Its key is known for longer, so that nothing is said twice.
    connection.prepare(
      `UPDATE outbox SET part = '${noText}' WHERE rowid IN (
         SELECT rowid FROM outbox WHERE finished_at < ? AND part <> '${noText}' LIMIT ${batch})`,
    ),
  ];
  const usage = connection.prepare(
    'DELETE FROM usage WHERE day = (SELECT day FROM usage WHERE day < ? ORDER BY day LIMIT 1)',
  );
  const quiet = connection.prepare<Stale>(
    'SELECT transcript FROM transcript_times WHERE last_at < ? ORDER BY last_at LIMIT 100',
  );
  const stillQuiet = connection.prepare<Stale>(
    'SELECT transcript FROM transcript_times WHERE transcript = ? AND last_at < ?',
  );
  const entries = connection.prepare(
    `DELETE FROM entries WHERE rowid IN (SELECT rowid FROM entries WHERE transcript = ? ORDER BY seq LIMIT ${batch})`,
  );
  const time = connection.prepare('DELETE FROM transcript_times WHERE transcript = ?');
  const archived = connection.prepare('DELETE FROM transcripts WHERE id = ?');

  /** Until `remove` has found less than a batch. */
  async function inBatches(remove: () => number): Promise<void> {
    while (connection.write('process', remove) >= batch) await setImmediate();
  }

  /** Gives 0 when nothing is left of it, or something new was said in it meanwhile. */
  function shorten(transcript: string, before: number): number {
    if (stillQuiet.get(transcript, before) === undefined) return 0;
    const removed = entries.run(transcript);
    if (removed === batch) return removed;
    time.run(transcript);
    archived.run(transcript);
    return removed;
  }

  return async (now, retentionMs) => {
    for (const { rows, keptMs } of stale) await inBatches(() => rows.run(now - keptMs));
    const before = Math.max(0, now - retentionMs);
    for (const rows of dead) await inBatches(() => rows.run(before));
    const day = new Date(before).toISOString().slice(0, 10);
    while (connection.write('process', () => usage.run(day)) > 0) await setImmediate();
    // Oldest first: a conversation's archived transcripts go before the one in use.
    for (let found = quiet.all(before); found.length > 0; found = quiet.all(before)) {
      for (const { transcript } of found) await inBatches(() => shorten(transcript, before));
    }
  };
}
