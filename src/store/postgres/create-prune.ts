import { bounds, noText } from '../bounds.ts';
import type { Store } from '../store.ts';
import type { Database, Query } from './open-database.ts';

/** Rows removed in one transaction: a few milliseconds, so that nothing waits long for them. */
const batch = 500;

/** `Store.prune` on PostgreSQL (Q2, Q12). Several processes may do it at once. */
export function createPrune({ query, transaction }: Database): Store['prune'] {
  /** By their key, in batches: `SKIP LOCKED` leaves to another process what that one is removing. */
  async function remove(table: string, where: string, before: number | string, key = 'seq'): Promise<void> {
    const sql = `DELETE FROM skillet.${table} WHERE ${key} IN (
      SELECT ${key} FROM skillet.${table} WHERE ${where} < $1 LIMIT ${batch} FOR UPDATE SKIP LOCKED)`;
    while ((await query(sql, [before])).changed === batch);
  }

  async function quietTranscripts(before: number): Promise<readonly string[]> {
    const { rows } = await query<Readonly<{ transcript: string }>>(
      'SELECT transcript FROM skillet.transcript_times WHERE last_at < $1 ORDER BY last_at LIMIT 100',
      [before],
    );
    return rows.map(({ transcript }) => transcript);
  }

  /** Gives true once nothing is left of it, or something new was said in it meanwhile. */
  async function shorten(within: Query, transcript: string, before: number): Promise<boolean> {
    // Locked: what is about to be said in it waits for the end of this.
    const quiet = await within(
      'SELECT 1 FROM skillet.transcript_times WHERE transcript = $1 AND last_at < $2 FOR UPDATE',
      [transcript, before],
    );
    if (quiet.rows.length === 0) return true;
    const { changed } = await within(
      `DELETE FROM skillet.entries WHERE seq IN (
         SELECT seq FROM skillet.entries WHERE transcript = $1 ORDER BY seq LIMIT ${batch})`,
      [transcript],
    );
    if (changed === batch) return false;
    await within('DELETE FROM skillet.transcript_times WHERE transcript = $1', [transcript]);
    await within('DELETE FROM skillet.transcripts WHERE id = $1', [transcript]);
    return true;
  }

  return async (now, retentionMs) => {
    // Takes the item's keys with it.
    await remove('inbox', `status = 'done' AND finished_at`, now - bounds.doneKeptMs);
    await remove('outbox', 'finished_at', now - bounds.sentKeptMs);
    await remove('shown', 'shown_at', now - bounds.shownKeptMs, 'key');
    await remove('asks', 'settled_at', now - bounds.settledKeptMs);
    await remove('overheard', 'heard_at', now - bounds.overheardKeptMs);
    await query('DELETE FROM skillet.keyed WHERE expires_at < $1', [now]);
    await query('DELETE FROM skillet.uses WHERE used_at < $1', [now - bounds.usesKeptMs]);
    await query('DELETE FROM skillet.limits WHERE free_at < extract(epoch FROM now()) * 1000');
    await remove('capability_flows', 'expires_at', now - bounds.flowsKeptMs);
    await remove('capability_outcomes', 'kept_at', now - bounds.outcomesKeptMs, 'key');
    const before = now - retentionMs;
    if (!Number.isFinite(before)) return;
    await remove('inbox', `status = 'dead' AND accepted_at`, before);
    await remove('outbox', `status = 'dead' AND finished_at`, before);
    // Its key is known for longer, so that nothing is said twice.
    await query(
      `UPDATE skillet.outbox SET part = '${noText}' WHERE finished_at < $1 AND part <> '${noText}'`,
      [before],
    );
    await query('DELETE FROM skillet.usage WHERE day < $1', [new Date(before).toISOString().slice(0, 10)]);
    // Oldest first: a conversation's archived transcripts go before the one in use.
    for (
      let quiet = await quietTranscripts(before);
      quiet.length > 0;
      quiet = await quietTranscripts(before)
    ) {
      for (const transcript of quiet) {
        while (!(await transaction({ outlives: 'memory' }, (within) => shorten(within, transcript, before))));
      }
    }
  };
}
