import { setImmediate, setTimeout } from 'node:timers/promises';
import {
  forgetPerson,
  type ForgetRows,
  type PersonKeys,
  type PersonTable,
  type RowChange,
} from '../forget-person.ts';
import type { Store } from '../store.ts';
import type { Connection } from './open-connection.ts';

/** Entries looked through in one go: a few milliseconds. */
const window = 2_000;
/** What is written meanwhile, or a backup, can keep the journal from being emptied for a moment. */
const emptyTries = 200;
const emptyEveryMs = 50;

type Row = Readonly<{
  seq: number;
  key: string;
  place: string;
  text: string;
  requester: string | null;
  ended: number;
}>;

/**
 * `Store.forget` on the embedded store. When it resolves, what was removed is neither in the file nor in its journal: the
 * connection overwrites what it deletes, and the journal is emptied.
 */
export function createForget(connection: Connection): Store['forget'] {
  const ends = connection.prepare<Readonly<{ first: number | null; last: number | null }>>(
    'SELECT (SELECT MIN(seq) FROM entries) AS first, (SELECT MAX(seq) FROM entries) AS last',
  );
  const naming = connection.prepare<Readonly<{ transcript: string }>>(
    `SELECT transcript FROM entries
     WHERE seq >= ? AND seq < ? AND (instr(entry, ?) > 0 OR instr(entry, ?) > 0) ORDER BY seq`,
  );
  const transcriptsIn = connection.prepare<Readonly<{ transcript: string }>>(
    'SELECT transcript FROM transcript_times WHERE transcript >= ? AND transcript < ?',
  );
  const entries = connection.prepare<Readonly<{ seq: number; text: string }>>(
    'SELECT seq, entry AS text FROM entries WHERE transcript = ? AND seq > ? ORDER BY seq LIMIT ?',
  );
  const rowsOf = (table: PersonTable, place: string, text: string, more: { key?: string; rest: string }) =>
    connection.prepare<Row>(
      `SELECT seq, ${more.key ?? 'key'} AS key, ${place} AS place, ${text} AS text, ${more.rest}
       FROM ${table} WHERE seq > ? ORDER BY seq LIMIT ?`,
    );
  const change = (table: PersonTable | 'entries', text: string) => ({
    remove: connection.prepare(`DELETE FROM ${table} WHERE seq = ? AND ${text} = ?`),
    rewrite: connection.prepare(`UPDATE ${table} SET ${text} = ? WHERE seq = ? AND ${text} = ?`),
  });
  const rows = {
    inbox: rowsOf('inbox', 'lane', 'parts', { rest: `NULL AS requester, status <> 'waiting' AS ended` }),
    overheard: rowsOf('overheard', 'conversation', 'message', { rest: 'NULL AS requester, 1 AS ended' }),
    outbox: rowsOf('outbox', 'lane', 'part', {
      rest: 'NULL AS requester, finished_at IS NOT NULL AS ended',
    }),
    asks: rowsOf('asks', 'conversation', 'ask', {
      key: 'id',
      rest: 'requester, settled_at IS NOT NULL AS ended',
    }),
  };
  const changes = {
    entries: change('entries', 'entry'),
    inbox: change('inbox', 'parts'),
    overheard: change('overheard', 'message'),
    outbox: change('outbox', 'part'),
    asks: change('asks', 'ask'),
  };
  const dropArchived = connection.prepare('DELETE FROM transcripts WHERE conversation = ?');
  const dropTimes = connection.prepare('DELETE FROM transcript_times WHERE transcript = ?');
  const shownKeys = connection.prepare<Readonly<{ key: string }>>(
    'SELECT key FROM shown WHERE key > ? ORDER BY key LIMIT ?',
  );
  const keyedKeys = connection.prepare<Readonly<{ key: string }>>(
    'SELECT key FROM keyed WHERE namespace = ? AND key > ? ORDER BY key LIMIT ?',
  );
  const dropShown = connection.prepare('DELETE FROM shown WHERE key = ?');
  const dropKeyed = connection.prepare('DELETE FROM keyed WHERE namespace = ? AND key = ?');
  const usage = connection.prepare(
    `DELETE FROM usage WHERE sender = ?1 AND day = (SELECT day FROM usage WHERE sender = ?1 ORDER BY day LIMIT 1)`,
  );

  const write = async (work: () => void): Promise<void> => {
    connection.write('process', work);
    await setImmediate();
  };

  async function transcriptsWith([one = '', other = one]: readonly string[]): Promise<readonly string[]> {
    const found = new Set<string>();
    const { first, last } = ends.get() ?? { first: null, last: null };
    for (let from = first ?? 0; last !== null && from <= last; from += window) {
      for (const { transcript } of naming.all(from, from + window, one, other)) found.add(transcript);
      await setImmediate();
    }
    return [...found];
  }

  const transcriptsOf = (conversation: string): readonly string[] =>
    // What may follow the key, and the character after that.
    [
      ['', ' '],
      ['#', '$'],
      ['@', 'A'],
    ].flatMap(([from, to]) =>
      transcriptsIn.all(`${conversation}${from}`, `${conversation}${to}`).map(({ transcript }) => transcript),
    );

  function apply(table: PersonTable | 'entries', { seq, was, text }: RowChange): void {
    if (text === undefined) changes[table].remove.run(seq, was);
    else changes[table].rewrite.run(text, seq, was);
  }

  const store: ForgetRows = {
    transcriptsWith,
    transcriptsOf: async (conversation) => transcriptsOf(conversation),
    entries: async (transcript, after, limit) => {
      await setImmediate();
      return entries.all(transcript, after, limit);
    },
    rows: async (table, after, limit) =>
      rows[table].all(after, limit).map((row) => ({ ...row, ended: row.ended === 1 })),
    change: (table, all) => write(() => all.forEach((one) => apply(table, one))),
    dropConversation: (conversation) =>
      write(() => {
        for (const transcript of transcriptsOf(conversation)) dropTimes.run(transcript);
        dropArchived.run(conversation);
      }),
    keys: async (of, after, limit) =>
      (of === 'shown' ? shownKeys.all(after, limit) : keyedKeys.all(of, after, limit)).map(({ key }) => key),
    removeKeys: (of, keys) => write(() => keys.forEach((key) => removeKey(of, key))),
    async removeUsage(sender) {
      let removed = 0;
      for (;;) {
        const some = connection.write('process', () => usage.run(sender));
        removed += some;
        if (some === 0) return removed;
        await setImmediate();
      }
    },
  };

  function removeKey(of: PersonKeys, key: string): void {
    if (of === 'shown') dropShown.run(key);
    else dropKeyed.run(of, key);
  }

  /** The journal still holds pages as they were before. */
  async function emptyJournal(): Promise<void> {
    for (let tries = 1; !connection.emptyJournal(); tries++) {
      if (tries === emptyTries) throw new Error('The journal of the store can not be emptied: it is in use.');
      await setTimeout(emptyEveryMs);
    }
  }

  return async (sender) => {
    const forgotten = await forgetPerson(store, sender);
    await emptyJournal();
    return forgotten;
  };
}
