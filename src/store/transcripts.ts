import { randomUUID } from 'node:crypto';
import type { Entry } from '../core/entry.ts';
import type { Log } from '../lib/log.ts';
import { readShared } from './newer-row.ts';
import type { Sql } from './sql.ts';
import type { StoredEntry, Transcripts, TurnOf } from './store.ts';
import { storedEntry } from './stored-entry.ts';
import { readStored } from './stored-json.ts';

type Row = Readonly<{ seq: number; kind: string; entry: string }>;
/** A summary's number. `kept` is how many earlier entries stay as they are. */
type Summary = Readonly<{ seq: number; kept: number }>;
type ReadRow = Readonly<{ seq: number; entry?: Entry }>;

export function createTranscripts(sql: Sql, log: Log): Transcripts {
  const current = sql.lookup<Readonly<{ id: string }>>(
    'SELECT id FROM transcripts WHERE conversation = ?1 ORDER BY seq DESC LIMIT 1',
    { most: 200 },
  );
  const begin = sql.statement('INSERT INTO transcripts (id, conversation) VALUES (?1, ?2)');
  const answer = sql.statement(
    `SELECT 1 FROM entries WHERE kind = 'assistant'
     AND transcript IN (SELECT ?1 UNION ALL SELECT id FROM transcripts WHERE conversation = ?1) LIMIT 1`,
  );

  return {
    current: async (conversation) => (await current(conversation))[0]?.id ?? conversation,
    read: createReadTranscript(sql, log),
    async archive(conversation) {
      // Keys contain no "@", so this id is unique.
      await sql.write('process', begin(`${conversation}@${randomUUID()}`, conversation));
    },
    answered: async (conversation) => (await sql.read(answer(conversation))).length > 0,
    turnsSince: createTurnsSince(sql),
  };
}

/** How many entries are read in one statement. */
const page = 500;

function createTurnsSince(sql: Sql): Transcripts['turnsSince'] {
  // Keys contain no "#", so what has one is the journal of a run.
  const said = sql.statement<Readonly<{ seq: number; transcript: string; entry: string }>>(
    `SELECT seq, transcript, entry FROM entries WHERE seq > ?2 AND kind = 'user' AND transcript IN (
       SELECT transcript FROM transcript_times WHERE last_at >= ?1 AND NOT ${sql.dialect.contains('transcript', `'#'`)})
     ORDER BY seq LIMIT ${page}`,
  );
  return async (at) => {
    const turns: TurnOf[] = [];
    for (let after = 0; ;) {
      const rows = await sql.read(said(at, after));
      for (const { transcript, entry } of rows) {
        const read = readStored(storedEntry, entry);
        if (read.ok && read.value.kind === 'user' && read.value.at >= at)
          turns.push(...turnOf(read.value, transcript));
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < page) return turns;
      after = last.seq;
    }
  };
}

function turnOf(entry: Extract<Entry, { kind: 'user' }>, transcript: string): readonly TurnOf[] {
  const { sender, item, at, unattended } = entry;
  if (sender === undefined || item === undefined || unattended === true) return [];
  const conversation = transcript.replace(/@.*$/s, '');
  return [{ transcript, item, sender, conversation, at, chatType: chatTypeOf(entry, transcript) }];
}

/** The type of the chat in which a message was written, as far as the entry and its transcript show it. */
export function chatTypeOf(
  { sender, content }: Extract<Entry, { kind: 'user' }>,
  transcript: string,
): TurnOf['chatType'] {
  // On Telegram and the terminal, a person's own chat has their id. On Slack its id begins with D.
  const [room = ''] = transcript.split(/[/~@#]/, 1);
  if (room === sender || room.startsWith('slack:D')) return 'private';
  const texts =
    typeof content === 'string' ? [content] : content.map((block) => ('text' in block ? block.text : ''));
  // Only what is said in a group has its author on it (M8).
  return texts.some((text) => typeof text === 'string' && text.includes('<message from='))
    ? 'group'
    : undefined;
}

/** Reads a transcript from its newest readable summary on, with the earlier entries that the summary keeps. */
function createReadTranscript(sql: Sql, log: Log): Transcripts['read'] {
  const select = 'SELECT seq, kind, entry FROM entries WHERE transcript = ?1';
  const newest = sql.lookup<Row>(
    `${select} AND seq >= COALESCE(
       (SELECT seq FROM entries WHERE transcript = ?1 AND kind = 'summary' ORDER BY seq DESC LIMIT 1), 0)`,
    { most: 16, order: 'seq' },
  );
  const summaryBefore = sql.statement<Row>(
    `${select} AND kind = 'summary' AND seq < ?2 ORDER BY seq DESC LIMIT 1`,
  );
  const before = sql.statement<Row>(`${select} AND seq < ?2 ORDER BY seq DESC LIMIT ?3`);
  const from = sql.statement<Row>(`${select} AND seq >= ?2 ORDER BY seq`);

  async function fromSummary(id: string): Promise<Readonly<{ summary?: Summary; rows: readonly Row[] }>> {
    const rows = await newest(id);
    let [row] = rows;
    if (row?.kind !== 'summary') return { rows };
    const found = toSummary(row);
    if (found !== undefined) return { summary: found, rows };
    let summary: Summary | undefined;
    while (row !== undefined && summary === undefined) {
      [row] = await sql.read(summaryBefore(id, row.seq));
      summary = row && toSummary(row);
    }
    return { summary, rows: await sql.read(from(id, summary?.seq ?? 0)) };
  }

  /** Reads entries before a summary until `kept` readable ones are found, because damaged ones were not counted. */
  async function rowsBefore(id: string, { seq, kept }: Summary): Promise<readonly ReadRow[]> {
    const rows: ReadRow[] = [];
    for (let missing = kept; missing > 0;) {
      const more = await sql.read(before(id, rows[0]?.seq ?? seq, missing));
      rows.unshift(...(await readRows(more.toReversed(), id, { sql, log })));
      missing = more.length < missing ? 0 : kept - entriesOf(rows).length;
    }
    return rows;
  }

  return async (id) => {
    const { summary, rows: after } = await fromSummary(id);
    const kept = summary === undefined ? [] : await rowsBefore(id, summary);
    const rows = [...kept, ...(await readRows(after, id, { sql, log }))];
    const entries = entriesOf(rows);
    return { entries, damaged: rows.length - entries.length };
  };
}

/** Reads entries in their order. A damaged one is logged and stays without its entry. */
async function readRows(
  rows: readonly Row[],
  transcript: string,
  { sql, log }: Readonly<{ sql: Sql; log: Log }>,
): Promise<readonly ReadRow[]> {
  const all: ReadRow[] = [];
  for (const { seq, entry } of rows) {
    const found = readShared(sql, storedEntry, entry);
    const read = found instanceof Promise ? await found : found;
    all.push(read.ok ? { seq, entry: read.value } : { seq });
    if (!read.ok)
      log.warn({ transcript, seq, reason: read.reason }, 'a transcript entry is damaged and was left out');
  }
  return all;
}

function toSummary({ seq, entry }: Row): Summary | undefined {
  const read = readStored(storedEntry, entry);
  return read.ok && read.value.kind === 'summary' ? { seq, kept: read.value.kept } : undefined;
}

function entriesOf(rows: readonly ReadRow[]): readonly StoredEntry[] {
  return rows.flatMap(({ seq, entry }) => (entry === undefined ? [] : [{ seq, entry }]));
}
