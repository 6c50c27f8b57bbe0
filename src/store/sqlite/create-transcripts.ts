import { randomUUID } from 'node:crypto';
import type { Entry } from '../../core/entry.ts';
import type { Log } from '../../lib/log.ts';
import type { StoredEntry, Transcripts } from '../store.ts';
import { storedEntry } from '../stored-entry.ts';
import { readStored } from '../stored-json.ts';
import type { Connection } from './open-connection.ts';

type Row = Readonly<{ seq: number; entry: string }>;
/** Without an entry where it is damaged. */
type ReadRow = Readonly<{ seq: number; entry?: Entry }>;

/** Transcripts on the embedded store. `append` belongs inside a step's transaction. */
export function createTranscripts(
  connection: Connection,
  log: Log,
): Transcripts & Readonly<{ append(transcript: string, entry: Entry): void }> {
  const insert = connection.prepare('INSERT INTO entries (transcript, kind, entry) VALUES (?, ?, ?)');
  const touch = connection.prepare(
    `INSERT INTO transcript_times (transcript, last_at) VALUES (?, ?)
     ON CONFLICT (transcript) DO UPDATE SET last_at = MAX(last_at, excluded.last_at)`,
  );
  // Walks back from the newest entry: as far as what is read next, for a transcript with a summary.
  const summaries = connection.prepare<Row>(
    `SELECT seq, entry FROM entries WHERE transcript = ? AND kind = 'summary' AND seq < ? ORDER BY seq DESC LIMIT 1`,
  );
  const before = connection.prepare<Row>(
    'SELECT seq, entry FROM entries WHERE transcript = ? AND seq < ? ORDER BY seq DESC LIMIT ?',
  );
  const from = connection.prepare<Row>(
    'SELECT seq, entry FROM entries WHERE transcript = ? AND seq >= ? ORDER BY seq',
  );
  const current = connection.prepare<Readonly<{ id: string }>>(
    'SELECT id FROM transcripts WHERE conversation = ? ORDER BY seq DESC LIMIT 1',
  );
  const begin = connection.prepare('INSERT INTO transcripts (id, conversation) VALUES (?, ?)');
  const answer = connection.prepare(
    `SELECT 1 FROM entries WHERE kind = 'assistant'
     AND transcript IN (SELECT ?1 UNION ALL SELECT id FROM transcripts WHERE conversation = ?1) LIMIT 1`,
  );

  /** The newest summary that can be read. */
  function newestSummary(transcript: string): Readonly<{ seq: number; kept: number }> | undefined {
    let row = summaries.get(transcript, Number.MAX_SAFE_INTEGER);
    for (; row !== undefined; row = summaries.get(transcript, row.seq)) {
      const read = readStored(storedEntry, row.entry);
      if (read.ok && read.value.kind === 'summary') return { seq: row.seq, kept: read.value.kept };
    }
    return undefined;
  }

  /** Rows before `seq` with `kept` entries that can be read among them: what was damaged was not counted. */
  function rowsBefore(transcript: string, seq: number, kept: number): readonly ReadRow[] {
    const rows: ReadRow[] = [];
    for (let missing = kept; missing > 0;) {
      const more = before.all(transcript, rows[0]?.seq ?? seq, missing);
      rows.unshift(...more.toReversed().map((row) => readRow(transcript, row)));
      missing = more.length < missing ? 0 : kept - entriesOf(rows).length;
    }
    return rows;
  }

  function readRow(transcript: string, { seq, entry }: Row): ReadRow {
    const read = readStored(storedEntry, entry);
    if (read.ok) return { seq, entry: read.value };
    log.warn({ transcript, seq, reason: read.reason }, 'a transcript entry is damaged and was left out');
    return { seq };
  }

  return {
    append(transcript, entry) {
      insert.run(transcript, entry.kind, JSON.stringify(entry));
      touch.run(transcript, Math.trunc(entry.at));
    },
    current: async (conversation) => current.get(conversation)?.id ?? conversation,
    async read(id) {
      const summary = newestSummary(id);
      const kept = summary === undefined ? [] : rowsBefore(id, summary.seq, summary.kept);
      const rows = [...kept, ...from.all(id, summary?.seq ?? 0).map((row) => readRow(id, row))];
      const entries = entriesOf(rows);
      return { entries, damaged: rows.length - entries.length };
    },
    async archive(conversation) {
      // A conversation's key holds no "@", so no other conversation can have this id.
      connection.write('process', () => begin.run(`${conversation}@${randomUUID()}`, conversation));
    },
    answered: async (conversation) => answer.get(conversation) !== undefined,
  };
}

function entriesOf(rows: readonly ReadRow[]): readonly StoredEntry[] {
  return rows.flatMap(({ seq, entry }) => (entry === undefined ? [] : [{ seq, entry }]));
}
