import { forgetPerson, type ForgetRows, type PersonRow, type PersonTable } from '../forget-person.ts';
import type { Store } from '../store.ts';
import type { Database } from './open-database.ts';

/** Entries looked through in one statement: some ten milliseconds. */
const window = 20_000;

/** Where each table keeps what a person is known by. */
const columns: Readonly<Record<PersonTable, Readonly<{ text: string; row: string }>>> = {
  inbox: {
    text: 'parts',
    row: `key, lane AS place, parts AS text, NULL AS requester, status <> 'waiting' AS ended`,
  },
  overheard: {
    text: 'message',
    row: 'key, conversation AS place, message AS text, NULL AS requester, true AS ended',
  },
  outbox: {
    text: 'part',
    row: 'key, lane AS place, part AS text, NULL AS requester, finished_at IS NOT NULL AS ended',
  },
  asks: {
    text: 'ask',
    row: 'id AS key, conversation AS place, ask AS text, requester, settled_at IS NOT NULL AS ended',
  },
};

/**
 * `Store.forget` on PostgreSQL (Q12). `freed` is called when it is done: lanes may have lost the item they waited for. The
 * server overwrites what was removed in its own time (vacuum).
 */
export function createForget(database: Database, freed: () => Promise<void>): Store['forget'] {
  const { query, transaction } = database;
  /** What may follow a conversation's key in its transcripts, and the character after that. */
  const within = `transcript = $1 OR (transcript >= $1 || '#' AND transcript < $1 || '$')
    OR (transcript >= $1 || '@' AND transcript < $1 || 'A')`;

  const rows: ForgetRows = {
    async transcriptsWith(texts) {
      const found = new Set<string>();
      const ends = await query<Readonly<{ first: number | null; last: number | null }>>(
        'SELECT min(seq) AS first, max(seq) AS last FROM skillet.entries',
      );
      const { first, last } = ends.rows[0] ?? { first: null, last: null };
      for (let from = first ?? 0; last !== null && from <= last; from += window) {
        const { rows: naming } = await query<Readonly<{ transcript: string }>>(
          `SELECT transcript FROM skillet.entries WHERE seq >= $1 AND seq < $2
           AND EXISTS (SELECT 1 FROM unnest($3::text[]) AS named WHERE strpos(entry, named) > 0)
           GROUP BY transcript ORDER BY min(seq)`,
          [from, from + window, texts],
        );
        for (const { transcript } of naming) found.add(transcript);
      }
      return [...found];
    },
    async transcriptsOf(conversation) {
      const { rows: own } = await query<Readonly<{ transcript: string }>>(
        `SELECT transcript FROM skillet.transcript_times WHERE ${within} ORDER BY transcript`,
        [conversation],
      );
      return own.map(({ transcript }) => transcript);
    },
    async entries(transcript, after, limit) {
      const { rows: page } = await query<Readonly<{ seq: number; text: string }>>(
        'SELECT seq, entry AS text FROM skillet.entries WHERE transcript = $1 AND seq > $2 ORDER BY seq LIMIT $3',
        [transcript, after, limit],
      );
      return page;
    },
    async rows(table, after, limit) {
      const { rows: page } = await query<PersonRow>(
        `SELECT seq, ${columns[table].row} FROM skillet.${table} WHERE seq > $1 ORDER BY seq LIMIT $2`,
        [after, limit],
      );
      return page;
    },
    async change(table, changes) {
      const text = table === 'entries' ? 'entry' : columns[table].text;
      const rewritten = changes.filter((change) => change.text !== undefined);
      const removed = changes.filter((change) => change.text === undefined);
      await transaction({ outlives: 'disk' }, async (one) => {
        await one(
          `UPDATE skillet.${table} AS kept SET ${text} = new.text
           FROM unnest($1::bigint[], $2::text[], $3::text[]) AS new (seq, was, text)
           WHERE kept.seq = new.seq AND kept.${text} = new.was`,
          [
            rewritten.map(({ seq }) => seq),
            rewritten.map(({ was }) => was),
            rewritten.map((change) => change.text),
          ],
        );
        await one(
          `DELETE FROM skillet.${table} AS kept USING unnest($1::bigint[], $2::text[]) AS gone (seq, was)
           WHERE kept.seq = gone.seq AND kept.${text} = gone.was`,
          [removed.map(({ seq }) => seq), removed.map(({ was }) => was)],
        );
      });
    },
    async dropConversation(conversation) {
      await transaction({ outlives: 'disk' }, async (one) => {
        await one(`DELETE FROM skillet.transcript_times WHERE ${within}`, [conversation]);
        await one('DELETE FROM skillet.transcripts WHERE conversation = $1', [conversation]);
      });
    },
    async keys(of, after, limit) {
      const { rows: page } =
        of === 'shown'
          ? await query<Readonly<{ key: string }>>(
              'SELECT key FROM skillet.shown WHERE key > $1 ORDER BY key LIMIT $2',
              [after, limit],
            )
          : await query<Readonly<{ key: string }>>(
              'SELECT key FROM skillet.keyed WHERE namespace = $3 AND key > $1 ORDER BY key LIMIT $2',
              [after, limit, of],
            );
      return page.map(({ key }) => key);
    },
    async removeKeys(of, keys) {
      await transaction({ outlives: 'disk' }, (one) =>
        of === 'shown'
          ? one('DELETE FROM skillet.shown WHERE key = ANY($1)', [keys])
          : one('DELETE FROM skillet.keyed WHERE namespace = $2 AND key = ANY($1)', [keys, of]),
      );
    },
    async removeUsage(sender) {
      const { changed } = await transaction({ outlives: 'disk' }, (one) =>
        one('DELETE FROM skillet.usage WHERE sender = $1', [sender]),
      );
      return changed;
    },
  };

  return async (sender) => {
    const forgotten = await forgetPerson(rows, sender);
    await freed();
    return forgotten;
  };
}
