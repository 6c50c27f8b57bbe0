import { setImmediate } from 'node:timers/promises';
import { marksOf } from './forget-entries.ts';
import {
  forgetPerson,
  transcriptRoom,
  type ForgetRows,
  type PersonRow,
  type PersonTable,
} from './forget-person.ts';
import { each, type SqlCall, type Script, type Sql, type Steps } from './sql.ts';
import type { Store } from './store.ts';

/** Entries searched in one statement, which takes a few milliseconds. */
const window = 2_000;

type Row = Omit<PersonRow, 'ended'> & Readonly<{ ended: number | boolean }>;
type Entry = Readonly<{ seq: number; text: string }>;
type Key = Readonly<{ key: string }>;

export function createForget(sql: Sql): Store['forget'] {
  const rows = createForgetRows(sql);
  return (sender, rooms) => forgetPerson(rows, sender, rooms);
}

export function createPlacesNaming(sql: Sql): Store['placesNaming'] {
  const rows = createForgetRows(sql);
  return async (sender) => [...new Set((await rows.transcriptsWith(marksOf(sender))).map(transcriptRoom))];
}

export function createForgetRows(sql: Sql): ForgetRows {
  const { dialect } = sql;
  const ends = sql.statement<Readonly<{ first: number | null; last: number | null }>>(
    'SELECT (SELECT MIN(seq) FROM entries) AS first, (SELECT MAX(seq) FROM entries) AS last',
  );
  const naming = sql.statement<Readonly<{ transcript: string }>>(
    `SELECT transcript FROM entries WHERE seq >= ?1 AND seq < ?2
     AND (${dialect.contains('entry', '?3')} OR ${dialect.contains('entry', '?4')}) ORDER BY seq`,
  );
  // Matches the key alone and the key followed by `#` or `@` and anything.
  const within = `(transcript = ?1 OR (transcript >= ?2 AND transcript < ?3) OR (transcript >= ?4 AND transcript < ?5))`;
  const rangeOf = (key: string) => [key, `${key}#`, `${key}$`, `${key}@`, `${key}A`] as const;
  const transcriptsOf = sql.statement<Readonly<{ transcript: string }>>(
    `SELECT transcript FROM transcript_times WHERE ${within} ORDER BY transcript`,
  );
  const entries = sql.statement<Entry>(
    'SELECT seq, entry AS text FROM entries WHERE transcript = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3',
  );
  const rowsOf = (table: PersonTable, columns: string) =>
    sql.statement<Row>(`SELECT seq, ${columns} FROM ${table} WHERE seq > ?1 ORDER BY seq LIMIT ?2`);
  const rows = {
    inbox: rowsOf(
      'inbox',
      `key, queue AS place, parts AS text, NULL AS requester, status <> 'waiting' AS ended`,
    ),
    group_context: rowsOf(
      'group_context',
      'key, conversation AS place, message AS text, NULL AS requester, TRUE AS ended',
    ),
    outbox: rowsOf(
      'outbox',
      'key, queue AS place, part AS text, NULL AS requester, finished_at IS NOT NULL AS ended',
    ),
    pending_requests: rowsOf(
      'pending_requests',
      'id AS key, conversation AS place, request AS text, requester, settled_at IS NOT NULL AS ended',
    ),
  };
  const changeOf = (table: PersonTable | 'entries', text: string) => ({
    remove: sql.statement(`DELETE FROM ${table} WHERE seq = ?1 AND ${text} = ?2`),
    rewrite: sql.statement(`UPDATE ${table} SET ${text} = ?3 WHERE seq = ?1 AND ${text} = ?2`),
  });
  const changes = {
    entries: changeOf('entries', 'entry'),
    inbox: changeOf('inbox', 'parts'),
    group_context: changeOf('group_context', 'message'),
    outbox: changeOf('outbox', 'part'),
    pending_requests: changeOf('pending_requests', 'request'),
  };
  // Locked, in the order of commits: an entry is added before, and is seen, or after.
  const lockTimes = sql.statement(
    `SELECT 1 FROM transcript_times WHERE ${within} ORDER BY transcript ${dialect.forUpdate}`,
  );
  const without = (id: string) => `NOT EXISTS (SELECT 1 FROM entries WHERE entries.transcript = ${id})`;
  const dropTimes = sql.statement(
    `DELETE FROM transcript_times WHERE ${within} AND ${without('transcript_times.transcript')}`,
  );
  const dropArchived = sql.statement(
    `DELETE FROM transcripts WHERE conversation = ?1 AND ${without('transcripts.id')}`,
  );
  const shownKeys = sql.statement<Key>('SELECT key FROM shown WHERE key > ?1 ORDER BY key LIMIT ?2');
  const keyedKeys = sql.statement<Key>(
    'SELECT key FROM keyed WHERE namespace = ?1 AND key > ?2 ORDER BY key LIMIT ?3',
  );
  const dropShown = sql.statement('DELETE FROM shown WHERE key = ?1');
  const dropKeyed = sql.statement('DELETE FROM keyed WHERE namespace = ?1 AND key = ?2');
  const dropUsage = sql.statement(
    `DELETE FROM usage WHERE sender = ?1 AND day = (SELECT day FROM usage WHERE sender = ?1 ORDER BY day LIMIT 1)`,
  );
  const dropRuns = sql.statement('DELETE FROM runs WHERE sender = ?1');
  const dropRoutines = sql.statement('DELETE FROM routines WHERE creator = ?1');
  const dropFeedback = sql.statement('DELETE FROM feedback WHERE sender = ?1');

  const theirMemories = sql.statement('DELETE FROM memories WHERE author = ?1');
  const allMemories = sql.statement<Readonly<{ seq: number; text: string }>>(
    'SELECT seq, memory AS text FROM memories WHERE seq > ?1 ORDER BY seq LIMIT ?2',
  );
  const dropMemory = sql.statement('DELETE FROM memories WHERE seq = ?1');
  const dropSaid = sql.statement(
    'DELETE FROM said WHERE seq IN (SELECT seq FROM said WHERE asker = ?1 ORDER BY seq LIMIT ?2)',
  );
  const dropSaidThere = sql.statement(`DELETE FROM said WHERE ${within}`);

  async function read<Found>(call: SqlCall<Found>): Promise<readonly Found[]> {
    await setImmediate();
    return sql.read(call);
  }

  async function write<T>(script: Script<T>): Promise<T> {
    const result = await sql.write('server', script);
    await setImmediate();
    return result;
  }

  function* dropConversation(conversation: string): Steps<void> {
    yield* lockTimes(...rangeOf(conversation));
    yield* dropTimes(...rangeOf(conversation));
    yield* dropArchived(conversation);
    yield* dropSaidThere(...rangeOf(conversation));
  }

  return {
    async transcriptsWith([one = '', other = one]) {
      const found = new Set<string>();
      const [{ first, last } = { first: null, last: null }] = await read(ends());
      for (let from = first ?? 0; last !== null && from <= last; from += window) {
        for (const { transcript } of await read(naming(from, from + window, one, other)))
          found.add(transcript);
      }
      return [...found];
    },
    transcriptsOf: async (conversation) =>
      (await read(transcriptsOf(...rangeOf(conversation)))).map(({ transcript }) => transcript),
    entries: (transcript, after, limit) => read(entries(transcript, after, limit)),
    rows: async (table, after, limit) =>
      (await read(rows[table](after, limit))).map((row) => ({ ...row, ended: Boolean(row.ended) })),
    async change(table, all) {
      const { remove, rewrite } = changes[table];
      // The order of retention, which may remove the same entries.
      const ordered = all.toSorted((a, b) => a.seq - b.seq);
      await write(
        each(
          ordered.map(({ seq, was, text }) =>
            text === undefined ? remove(seq, was) : rewrite(seq, was, text),
          ),
        ),
      );
    },
    dropConversation: (conversation) => write(dropConversation(conversation)),
    keys: async (of, after, limit) =>
      (await read(of === 'shown' ? shownKeys(after, limit) : keyedKeys(of, after, limit))).map(
        ({ key }) => key,
      ),
    async removeKeys(of, keys) {
      await write(each(keys.map((key) => (of === 'shown' ? dropShown(key) : dropKeyed(of, key)))));
    },
    removeRoutines: async (sender) => (await write(dropRoutines(sender))).changed,
    removeFeedback: async (sender) => (await write(dropFeedback(sender))).changed,
    async removeMemories(sender, isAbout, limit) {
      let { changed: removed } = await write(theirMemories(sender));
      for (let after = 0; ;) {
        const page = await read(allMemories(after, limit));
        const about = page.filter(({ text }) => isAbout(text));
        removed += about.length;
        await write(each(about.map(({ seq }) => dropMemory(seq))));
        if (page.length < limit) return removed;
        after = page.at(-1)?.seq ?? after;
      }
    },
    async removeSaid(sender, limit) {
      while ((await write(dropSaid(sender, limit))).changed === limit);
    },
    async removeUsage(sender) {
      let removed = (await write(dropRuns(sender))).changed;
      for (;;) {
        const { changed } = await write(dropUsage(sender));
        removed += changed;
        if (changed === 0) return removed;
      }
    },
  };
}
