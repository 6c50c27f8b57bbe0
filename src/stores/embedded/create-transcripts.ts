import { randomUUID } from 'node:crypto';
import type { Entry } from '../../core/entry.ts';
import type { Log } from '../../core/log.ts';
import type { StoredEntry, Transcripts } from '../store.ts';
import { storedEntry } from '../stored-entry.ts';
import { readStored } from '../stored-json.ts';
import type { Connection } from './open-connection.ts';

/** Transcripts on the embedded store. `append` belongs inside a step's transaction. */
export function createTranscripts(
  connection: Connection,
  log: Log,
): Transcripts & Readonly<{ append(transcript: string, entry: Entry): void }> {
  const insert = connection.prepare('INSERT INTO entries (transcript, kind, entry) VALUES (?, ?, ?)');
  const entries = connection.prepare<Readonly<{ seq: number; entry: string }>>(
    'SELECT seq, entry FROM entries WHERE transcript = ? ORDER BY seq',
  );
  const current = connection.prepare<Readonly<{ id: string }>>(
    'SELECT id FROM transcripts WHERE conversation = ? ORDER BY seq DESC LIMIT 1',
  );
  const begin = connection.prepare('INSERT INTO transcripts (id, conversation) VALUES (?, ?)');
  const answer = connection.prepare(
    `SELECT 1 FROM entries WHERE kind = 'assistant'
     AND transcript IN (SELECT ?1 UNION ALL SELECT id FROM transcripts WHERE conversation = ?1) LIMIT 1`,
  );

  function readEntry(transcript: string, { seq, entry }: { seq: number; entry: string }): StoredEntry[] {
    const read = readStored(storedEntry, entry);
    if (read.ok) return [{ seq, entry: read.value }];
    log.warn({ transcript, seq, reason: read.reason }, 'a transcript entry is damaged and was left out');
    return [];
  }

  return {
    append: (transcript, entry) => void insert.run(transcript, entry.kind, JSON.stringify(entry)),
    current: async (conversation) => current.get(conversation)?.id ?? conversation,
    async read(id) {
      const rows = entries.all(id);
      const read = rows.flatMap((row) => readEntry(id, row));
      return { entries: read, damaged: rows.length - read.length };
    },
    async archive(conversation) {
      // A conversation's key holds no "@", so no other conversation can have this id.
      connection.write('process', () => begin.run(`${conversation}@${randomUUID()}`, conversation));
    },
    answered: async (conversation) => answer.get(conversation) !== undefined,
  };
}
