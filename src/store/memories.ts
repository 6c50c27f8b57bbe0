import { z } from 'zod';
import {
  holderOf,
  memoryScopes,
  type Holder,
  type Memory,
  type MemoryScope,
  type SearchableText,
} from '../core/memory.ts';
import { storedOrigin } from '../core/provenance.ts';
import type { Log } from '../lib/log.ts';
import { searchWords } from '../lib/text/search-words.ts';
import { each, hasChanged, type Sql, type Steps } from './sql.ts';
import { storedTaint } from './stored-entry.ts';
import { readStored, type FieldsOf } from './stored-json.ts';
import { storedConversation } from './stored-message.ts';

/** The bot's memories. Each list is of one or two holders, so that access is part of the query (K1). */
export type Memories = Readonly<{
  /** Adds a memory; a known id stays as it is. `full` means that its holder has `most` memories already. */
  add(memory: Memory, most: number): Promise<'stored' | 'full'>;
  find(id: string): Promise<Memory | undefined>;
  /** Memories of these holders, newest and most used first: each use counts like one day. */
  of(holders: readonly [Holder, Holder?], limit: number): Promise<readonly Memory[]>;
  /** A person's memories of every scope, oldest first. */
  by(author: string): Promise<readonly Memory[]>;
  counts(): Promise<Readonly<Record<MemoryScope, number>>>;
  used(ids: readonly string[]): Promise<void>;
  /** Marks memories as seen, so that retention keeps them. Writes at most once a day. */
  seen(holders: readonly [Holder, Holder?], now: number): Promise<void>;
  remove(id: string): Promise<boolean>;
  /**
   * Finds what was said (K5): first texts with all these words, or words that begin with the longer ones, then texts
   * with any of them. Each group is newest first.
   */
  search(holder: Holder, text: string, limit: number): Promise<readonly FoundSaid[]>;
}>;

export type FoundSaid = SaidPart & Readonly<{ holder: Holder; asker: string }>;

/** The part of a row that is stored as JSON. */
export type SaidPart = Omit<SearchableText, 'holder' | 'transcript' | 'asker'>;

type Row = Readonly<{ id: string; memory: string }>;
type RankedRow = Row & Readonly<{ seq: number; worth: number }>;
/** `scope` is only the beginning of a scope's name. */
type CountRow = Readonly<{ scope: string; rows: number }>;
type SaidRow = Readonly<{ seq: number; holder: Holder; asker: string; said: string }>;

const dayMs = 86_400_000;
const shortestBeginning = 4;
/** How many words of a query count. */
const mostWords = 12;

const storedMemory: z.ZodType<Memory> = z.object({
  id: z.string(),
  text: z.string(),
  scope: z.enum(memoryScopes),
  author: z.string(),
  authorName: z.string(),
  chat: z.string(),
  isPrivate: z.boolean(),
  isApproved: z.boolean(),
  source: z.string().optional(),
  taint: storedTaint,
  from: storedOrigin.optional(),
  at: z.number(),
} satisfies FieldsOf<Memory>);

const storedSaid: z.ZodType<SaidPart> = z.object({
  conversation: storedConversation,
  author: z.string().optional(),
  name: z.string(),
  source: z.string().optional(),
  text: z.string(),
  at: z.number(),
} satisfies FieldsOf<SaidPart>);

const select = 'SELECT id, memory FROM memories';

export function createMemories(sql: Sql, log: Log): Memories {
  const { read, write } = sql;
  const count = sql.statement<Readonly<{ rows: number }>>(
    'SELECT COUNT(*) AS rows FROM memories WHERE holder = ?1 AND id <> ?2',
  );
  const insert = sql.statement(
    `INSERT INTO memories (id, holder, author, memory, at, seen_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)
     ON CONFLICT (id) DO NOTHING`,
  );
  const one = sql.statement<Row>(`${select} WHERE id = ?1`);
  // One statement for each holder, because `IN` would make SQLite build a temporary table.
  const ofHolder = sql.lookup<RankedRow>(
    `SELECT id, memory, seq, at + uses * ${dayMs} AS worth FROM memories WHERE holder = ?1
     ORDER BY worth DESC, seq DESC LIMIT CAST(?2 AS BIGINT)`,
    { most: 200 },
  );
  const ofAuthor = sql.statement<Row>(`${select} WHERE author = ?1 ORDER BY seq`);
  // The name of a holder begins with its scope.
  const beginning = sql.statement<CountRow>(
    "SELECT SUBSTR(holder, 1, 4) AS scope, COUNT(*) AS rows FROM memories WHERE holder > '' GROUP BY 1",
  );
  const use = sql.statement('UPDATE memories SET uses = uses + 1 WHERE id = ?1');
  const unseen = sql.statement('SELECT 1 FROM memories WHERE holder IN (?1, ?2) AND seen_at < ?3 LIMIT 1');
  const touch = sql.statement('UPDATE memories SET seen_at = ?2 WHERE holder = ?1 AND seen_at < ?3');
  const remove = sql.statement('DELETE FROM memories WHERE id = ?1');
  function* add(memory: Memory, most: number): Steps<'stored' | 'full'> {
    const holder = holderOf(memory);
    const [held] = (yield* count(holder, memory.id)).rows;
    if ((held?.rows ?? 0) >= most) return 'full';
    yield* insert(memory.id, holder, memory.author, JSON.stringify(memory), memory.at);
    return 'stored';
  }

  const readable = (row: Row): readonly Memory[] => readMemory(row, log);

  return {
    add: (memory, most) => write('power', add(memory, most), [holderOf(memory)]),
    find: async (id) => (await read(one(id))).flatMap(readable)[0],
    async of([first, second = first], limit) {
      const holders = [...new Set([first, second])];
      const found = await Promise.all(holders.map((holder) => ofHolder(holder, String(limit))));
      const rows = found.flat().toSorted((a, b) => b.worth - a.worth || b.seq - a.seq);
      return rows.slice(0, limit).flatMap(readable);
    },
    by: async (author) => (await read(ofAuthor(author))).flatMap(readable),
    counts: async () => countsIn(await read(beginning())),
    async used(ids) {
      if (ids.length > 0) await write('process', each(ids.toSorted().map((id) => use(id))));
    },
    async seen(holders, now) {
      const [first, second = first] = holders;
      const before = now - dayMs;
      if ((await read(unseen(first, second, before))).length === 0) return;
      const sorted = [...new Set([first, second])].toSorted();
      await write('process', each(sorted.map((holder) => touch(holder, now, before))));
    },
    remove: async (id) => hasChanged(await write('power', remove(id))),
    search: createSaidSearch(sql, log),
  };
}

function readMemory({ id, memory }: Row, log: Log): readonly Memory[] {
  const stored = readStored(storedMemory, memory);
  if (stored.ok) return [stored.value];
  log.warn({ memory: id, reason: stored.reason }, 'a memory is damaged and was left out');
  return [];
}

function countsIn(found: readonly CountRow[]): Readonly<Record<MemoryScope, number>> {
  const count = (scope: MemoryScope): number =>
    found.find((row) => row.scope === scope.slice(0, 4))?.rows ?? 0;
  return { person: count('person'), chat: count('chat'), team: count('team') };
}

function createSaidSearch(
  { statement, read, write, dialect: { search } }: Sql,
  log: Log,
): Memories['search'] {
  const finding = ({ from, holder, newest }: typeof search.few) =>
    statement<SaidRow>(
      `SELECT said.seq, said.holder, said.asker, said.said FROM ${from}
       WHERE ${search.matches('?2')} AND ${holder} = ?1 ORDER BY ${newest} DESC LIMIT ?3`,
    );
  const catchUp = (search.catchUp ?? []).map((text) => statement(text));
  const findAll = finding(search.few);
  const findAny = finding(search.many);

  const readSaid = ({ seq, holder, asker, said }: SaidRow): readonly FoundSaid[] => {
    const stored = readStored(storedSaid, said);
    if (stored.ok) return [{ ...stored.value, holder, asker }];
    log.warn(
      { said: seq, reason: stored.reason },
      'an entry of the search index is damaged and was left out',
    );
    return [];
  };

  return async (holder, text, limit) => {
    const words = searchWords(text).slice(0, mostWords);
    if (words.length === 0) return [];
    if (catchUp.length > 0) await write('process', each(catchUp.map((one) => one())));
    const asked = words.map((word) => ({ word, isBeginning: word.length >= shortestBeginning }));
    const all = await read(findAll(holder, search.all(holder, asked), limit));
    if (all.length >= limit || words.length === 1) return all.flatMap(readSaid);
    // Matches whole words only, because beginnings of many words take longer.
    const any = await read(findAny(holder, search.any(holder, words), limit));
    const known = new Set(all.map(({ seq }) => seq));
    return [...all, ...any.filter(({ seq }) => !known.has(seq))].slice(0, limit).flatMap(readSaid);
  };
}

/** What a row holds: the JSON, and the words that find it. */
export function saidRow({ holder, transcript, asker, ...part }: SearchableText): Readonly<{
  holder: Holder;
  transcript: string;
  asker: string;
  said: string;
  words: readonly string[];
}> {
  return { holder, transcript, asker, said: JSON.stringify(part), words: searchWords(part.text) };
}
