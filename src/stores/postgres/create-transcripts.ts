import { randomUUID } from 'node:crypto';
import type { Entry } from '../../core/entry.ts';
import type { Log } from '../../core/log.ts';
import type { StoredEntry, Transcripts } from '../store.ts';
import { storedEntry } from '../stored-entry.ts';
import { readStored } from '../stored-json.ts';
import type { Database } from './open-database.ts';

type Row = Readonly<{ seq: number; entry: string }>;
/** Without an entry where it is damaged. */
type ReadRow = Readonly<{ seq: number; entry?: Entry }>;

/** Transcripts on PostgreSQL. */
export function createTranscripts({ query }: Database, log: Log): Transcripts {
  /** The newest summary that can be read. */
  async function newestSummary(
    transcript: string,
  ): Promise<Readonly<{ seq: number; kept: number }> | undefined> {
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

  return {
    async current(conversation) {
      const { rows } = await query<Readonly<{ id: string }>>(
        'SELECT id FROM skillet.transcripts WHERE conversation = $1 ORDER BY seq DESC LIMIT 1',
        [conversation],
      );
      return rows[0]?.id ?? conversation;
    },
    async read(id) {
      const summary = await newestSummary(id);
      const kept = summary === undefined ? [] : await rowsBefore(id, summary.seq, summary.kept);
      const after = await query<Row>(
        'SELECT seq, entry FROM skillet.entries WHERE transcript = $1 AND seq >= $2 ORDER BY seq',
        [id, summary?.seq ?? 0],
      );
      const rows = [...kept, ...after.rows.map((row) => readRow(id, row))];
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
