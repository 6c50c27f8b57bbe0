import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { Entry } from '../../../src/core/entry.ts';

/** What a store holds, read past the bot when no process has it open. */
export type StoredFacts = Readonly<{
  /** Texts of rows that were sent more than once, with how often a send was counted as repeated. */
  repeats: readonly Readonly<{ text: string; repeats: number }>[];
  /** Rows neither sent nor given up. */
  unsent: number;
  /** Texts of messages that were set aside. */
  dead: readonly string[];
  /** Messages neither answered nor set aside. */
  waiting: number;
  journals: readonly Readonly<{ transcript: string; entries: readonly Entry[] }>[];
}>;

type Query = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

export function readStored(storeUrl: string): Promise<StoredFacts> {
  return withStore(storeUrl, readFacts);
}

/** Every row of inbox, outbox and transcripts in which one of the tokens stands, a line each: what a failure is understood by. */
export function readRows(storeUrl: string, tokens: readonly string[]): Promise<readonly string[]> {
  const named = new RegExp(`\\b(?:${tokens.join('|')})\\b`);
  return withStore(storeUrl, async (query) => {
    const lines: string[] = [];
    for (const table of ['inbox', 'outbox', 'entries'])
      for (const row of await query(`SELECT * FROM ${table} ORDER BY seq`)) {
        const line = `${table} ${JSON.stringify(row)}`;
        if (named.test(line)) lines.push(line.slice(0, 1_000));
      }
    return lines;
  });
}

async function withStore<Result>(storeUrl: string, read: (query: Query) => Promise<Result>): Promise<Result> {
  if (storeUrl.startsWith('postgres')) {
    const client = new pg.Client({ connectionString: storeUrl });
    await client.connect();
    try {
      await client.query('SET search_path TO skillet');
      return await read(async (sql) => (await client.query<Record<string, unknown>>(sql)).rows);
    } finally {
      await client.end();
    }
  }
  const db = new DatabaseSync(storeUrl.replace(/^sqlite:/, ''), { readOnly: true, timeout: 10_000 });
  try {
    return await read(async (sql) => db.prepare(sql).all());
  } finally {
    db.close();
  }
}

async function readFacts(query: Query): Promise<StoredFacts> {
  const count = async (sql: string): Promise<number> => Number((await query(sql))[0]?.['n']);
  const journals = new Map<string, Entry[]>();
  for (const { transcript, entry } of await query('SELECT transcript, entry FROM entries ORDER BY seq')) {
    const id = String(transcript);
    journals.set(id, [...(journals.get(id) ?? []), asJson(entry) as Entry]);
  }
  return {
    repeats: (await query('SELECT part, repeats FROM outbox WHERE repeats > 0')).map(({ part, repeats }) => ({
      text: (asJson(part) as { markdown: string }).markdown,
      repeats: Number(repeats),
    })),
    unsent: await count('SELECT COUNT(*) AS n FROM outbox WHERE finished_at IS NULL'),
    dead: (await query("SELECT parts FROM inbox WHERE status = 'dead'")).map(({ parts }) =>
      JSON.stringify(asJson(parts)),
    ),
    waiting: await count("SELECT COUNT(*) AS n FROM inbox WHERE status = 'waiting'"),
    journals: [...journals].map(([transcript, entries]) => ({ transcript, entries })),
  };
}

/** PostgreSQL gives JSON columns parsed, SQLite as text. */
function asJson(value: unknown): unknown {
  return typeof value === 'string' ? (JSON.parse(value) as unknown) : value;
}
