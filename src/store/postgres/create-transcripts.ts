import { randomUUID } from 'node:crypto';
import type { Entry } from '../../core/entry.ts';
import type { Log } from '../../lib/log.ts';
import type { StoredEntry, Transcripts } from '../store.ts';
import { storedEntry } from '../stored-entry.ts';
import { readStored } from '../stored-json.ts';
import { createBatch } from './create-batch.ts';
import type { Database } from './open-database.ts';

type Row = Readonly<{ seq: number; entry: string }>;
/** `kept`: entries before it that are kept word by word. */
type Summary = Readonly<{ seq: number; kept: number }>;
/** Without an entry where it is damaged. */
type ReadRow = Readonly<{ seq: number; entry?: Entry }>;

/** Conversations, and whole transcripts, looked for in one statement. */
const most = 200;
const mostTranscripts = 16;

/** Transcripts on PostgreSQL. */
export function createTranscripts({ query }: Database, log: Log): Transcripts {
  /** The newest summary that can be read. */
  async function newestSummary(transcript: string): Promise<Summary | undefined> {
    const { rows } = await query<Row>(
      `SELECT seq, entry FROM skillet.entries WHERE transcript = $1 AND kind = 'summary' ORDER BY seq DESC`,
      [transcript],
    );
    for (const row of rows) {
      const read = readStored(storedEntry, row.entry);
      if (read.ok && read.value.kind === 'summary') return { seq: row.seq, kept: read.value.kept };
    }
    return undefined;
  }

  /** Rows before `seq` with `kept` entries that can be read among them: what was damaged was not counted. */
  async function rowsBefore(transcript: string, seq: number, kept: number): Promise<readonly ReadRow[]> {
    const found: ReadRow[] = [];
    for (let missing = kept; missing > 0;) {
      const { rows } = await query<Row>(
        'SELECT seq, entry FROM skillet.entries WHERE transcript = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3',
        [transcript, found[0]?.seq ?? seq, missing],
      );
      found.unshift(...rows.toReversed().map((row) => readRow(transcript, row)));
      missing = rows.length < missing ? 0 : kept - entriesOf(found).length;
    }
    return found;
  }

  function readRow(transcript: string, { seq, entry }: Row): ReadRow {
    const read = readStored(storedEntry, entry);
    if (read.ok) return { seq, entry: read.value };
    log.warn({ transcript, seq, reason: read.reason }, 'a transcript entry is damaged and was left out');
    return { seq };
  }

  const inUse = createBatch<string, string>(async (conversations) => {
    const { rows } = await query<Readonly<{ place: number; id: string }>>(
      `SELECT asked.place, used.id FROM unnest($1::text[]) WITH ORDINALITY AS asked (conversation, place) CROSS JOIN LATERAL (
         SELECT id FROM skillet.transcripts WHERE conversation = asked.conversation ORDER BY seq DESC LIMIT 1) AS used`,
      [conversations],
    );
    const ids = new Map(rows.map(({ place, id }) => [place, id]));
    return conversations.map((conversation, n) => ids.get(n + 1) ?? conversation);
  }, most);

  /** Rows from the newest summary on, whether that can be read or not. */
  const newest = createBatch<string, readonly Row[]>(async (ids) => {
    const { rows } = await query<Row & Readonly<{ place: number }>>(
      `SELECT asked.place, e.seq, e.entry FROM unnest($1::text[]) WITH ORDINALITY AS asked (id, place) CROSS JOIN LATERAL (
         SELECT seq, entry FROM skillet.entries WHERE transcript = asked.id AND seq >= coalesce(
           (SELECT max(seq) FROM skillet.entries WHERE transcript = asked.id AND kind = 'summary'), 0)) AS e
       ORDER BY asked.place, e.seq`,
      [ids],
    );
    const byPlace = Map.groupBy(rows, ({ place }) => place);
    return ids.map((_, n) => byPlace.get(n + 1) ?? []);
  }, mostTranscripts);

  /** The newest summary that can be read, and all rows from it on. */
  async function fromSummary(id: string): Promise<Readonly<{ summary?: Summary; rows: readonly Row[] }>> {
    const rows = await newest(id);
    const [head] = rows;
    const first = head && readStored(storedEntry, head.entry);
    if (head === undefined || first === undefined) return { rows };
    if (first.ok && first.value.kind !== 'summary') return { rows };
    if (first.ok && first.value.kind === 'summary')
      return { summary: { seq: head.seq, kept: first.value.kept }, rows };
    // Perhaps a summary that is damaged: an older one counts.
    const summary = await newestSummary(id);
    const after = await query<Row>(
      'SELECT seq, entry FROM skillet.entries WHERE transcript = $1 AND seq >= $2 ORDER BY seq',
      [id, summary?.seq ?? 0],
    );
    return { summary, rows: after.rows };
  }

  return {
    current: inUse,
    async read(id) {
      const { summary, rows: after } = await fromSummary(id);
      const kept = summary === undefined ? [] : await rowsBefore(id, summary.seq, summary.kept);
      const rows = [...kept, ...after.map((row) => readRow(id, row))];
      const entries = entriesOf(rows);
      return { entries, damaged: rows.length - entries.length };
    },
    async archive(conversation) {
      // A conversation's key holds no "@", so no other conversation can have this id.
      await query('INSERT INTO skillet.transcripts (id, conversation) VALUES ($1, $2)', [
        `${conversation}@${randomUUID()}`,
        conversation,
      ]);
    },
    async answered(conversation) {
      const { rows } = await query(
        `SELECT 1 FROM skillet.entries WHERE kind = 'assistant' AND transcript IN
           (SELECT $1 UNION ALL SELECT id FROM skillet.transcripts WHERE conversation = $1) LIMIT 1`,
        [conversation],
      );
      return rows.length > 0;
    },
  };
}

function entriesOf(rows: readonly ReadRow[]): readonly StoredEntry[] {
  return rows.flatMap(({ seq, entry }) => (entry === undefined ? [] : [{ seq, entry }]));
}
