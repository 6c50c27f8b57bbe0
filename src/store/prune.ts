import { setImmediate } from 'node:timers/promises';
import { bounds, noText } from './bounds.ts';
import { transcriptRoom } from './forget-person.ts';
import { holdTextNamespace, isHeld } from './held-rows.ts';
import type { Sql, SqlStatement, Steps } from './sql.ts';
import type { Store } from './store.ts';

/** Rows removed in one transaction, which takes a few milliseconds. */
const batch = 500;
/** How many transcripts are found in one statement. */
const page = 100;

type Quiet = Readonly<{ transcript: string; last_at: number }>;

/** Removes rows that are past their time. Several processes may do it at once (Q2, Q12). */
export function createPrune(sql: Sql): Store['prune'] {
  const { stale, dead, usage, runs } = pastTheirTime(sql);
  const pruneTranscripts = createPruneTranscripts(sql);
  return async (now, retentionMs) => {
    for (const { rows, keptMs } of stale) await inBatches(sql, rows, now - keptMs);
    const before = Math.max(0, now - retentionMs);
    for (const rows of dead) await inBatches(sql, rows, before);
    const day = new Date(before).toISOString().slice(0, 10);
    await inBatches(sql, usage, day, 1);
    await inBatches(sql, runs, day);
    await pruneTranscripts(before);
  };
}

/** Columns that say whose a row is, for legal holds. */
const held = {
  inbox: { places: ['queue'], texts: ['parts'] },
  outbox: { places: ['queue'], texts: ['part'] },
  requests: { people: ['requester'], places: ['conversation'], texts: ['request'] },
  routines: { people: ['creator'], places: ['conversation'] },
  usage: { people: ['sender'], places: ['conversation'] },
} as const;

/** Statements that remove a batch of rows of one table from before `?1`: a time, for `usage` and `runs` a day. */
function pastTheirTime(sql: Sql): Readonly<{
  stale: readonly Readonly<{ rows: SqlStatement; keptMs: number }>[];
  /** Kept as long as transcripts. */
  dead: readonly SqlStatement[];
  usage: SqlStatement;
  runs: SqlStatement;
}> {
  const { statement, dialect } = sql;
  const free = (columns?: Parameters<typeof isHeld>[1]) =>
    columns === undefined ? '' : `AND NOT ${isHeld(sql, columns)}`;
  const some = (table: string, where: string, id = 'seq') =>
    `(${id}) IN (SELECT ${id} FROM ${table} WHERE ${where} LIMIT ${batch} ${dialect.skipLocked})`;
  const oldest = (table: string, where: string, whose?: Parameters<typeof isHeld>[1], id?: string) =>
    statement(`DELETE FROM ${table} WHERE ${some(table, `${where} < ?1 ${free(whose)}`, id)}`);
  const stale = [
    // Removing an item also removes its keys.
    { rows: oldest('inbox', `status = 'done' AND finished_at`, held.inbox), keptMs: bounds.doneKeptMs },
    { rows: oldest('outbox', 'finished_at', held.outbox), keptMs: bounds.sentKeptMs },
    { rows: oldest('shown', 'shown_at', undefined, 'key'), keptMs: bounds.shownKeptMs },
    { rows: oldest('pending_requests', 'settled_at', held.requests), keptMs: bounds.settledKeptMs },
    {
      rows: oldest('routines', `state = 'ended' AND changed_at`, held.routines, 'id'),
      keptMs: bounds.routinesKeptMs,
    },
    {
      rows: oldest('group_context', 'heard_at', { places: ['conversation'], texts: ['message'] }),
      keptMs: bounds.groupContextKeptMs,
    },
    { rows: oldest('keyed', 'expires_at', undefined, 'namespace, key'), keptMs: 0 },
    { rows: oldest('uses', 'used_at', undefined, 'key, id'), keptMs: bounds.usesKeptMs },
    { rows: oldest('capability_flows', 'expires_at', { people: ['sender'] }), keptMs: bounds.flowsKeptMs },
    {
      rows: oldest('capability_outcomes', 'kept_at', { people: ['sender'] }, 'key'),
      keptMs: bounds.outcomesKeptMs,
    },
  ];
  const dead = [
    oldest('inbox', `status = 'dead' AND accepted_at`, held.inbox),
    oldest('outbox', `status = 'dead' AND finished_at`, held.outbox),
    oldest('memories', 'seen_at', { people: ['author'], holders: ['holder'], texts: ['memory'] }),
    oldest('feedback', 'at', { people: ['sender'], texts: ['about'] }, 'id'),
    // The key stays longer than the part, so that nothing is sent twice.
    statement(
      `UPDATE outbox SET part = '${noText}' WHERE ${some('outbox', `finished_at < ?1 AND part <> '${noText}' ${free(held.outbox)}`)}`,
    ),
  ];
  const usage = statement(
    `DELETE FROM usage WHERE day = (
       SELECT day FROM usage WHERE day < ?1 ${free(held.usage)} ORDER BY day LIMIT 1) ${free(held.usage)}`,
  );
  const runs = oldest('runs', 'day', held.usage, 'id');
  return { stale, dead, usage, runs };
}

async function inBatches(
  sql: Sql,
  remove: SqlStatement,
  before: number | string,
  size = batch,
): Promise<void> {
  while ((await sql.write('process', remove(before))).changed >= size) await setImmediate();
}

/** A page of transcripts in which nothing was said since a time, and that no legal hold covers. */
function quietTranscripts(sql: Sql): SqlStatement<Quiet> {
  return sql.statement<Quiet>(
    `SELECT transcript, last_at FROM transcript_times WHERE last_at < ?1 AND (last_at, transcript) > (?2, ?3)
     AND NOT ${isHeld(sql, { places: ['transcript'] })}
     AND NOT (EXISTS (SELECT 1 FROM keyed WHERE namespace = '${holdTextNamespace}') AND EXISTS (
       SELECT 1 FROM entries WHERE entries.transcript = transcript_times.transcript
       AND ${isHeld(sql, { texts: ['entry'] })}))
     ORDER BY last_at, transcript LIMIT ${page}`,
  );
}

/** Removes transcripts in which nothing was said since a time. */
function createPruneTranscripts(sql: Sql): (before: number) => Promise<void> {
  const { dialect } = sql;
  const quiet = quietTranscripts(sql);
  // Locks the row, so that a new entry waits for this.
  const stillQuiet = sql.statement(
    `SELECT 1 FROM transcript_times WHERE transcript = ?1 AND last_at < ?2 ${dialect.forUpdate}`,
  );
  const waiting = sql.statement(
    `SELECT 1 FROM inbox WHERE status = 'waiting' AND queue = ?1
     UNION ALL SELECT 1 FROM inbox WHERE status = 'waiting' AND queue >= ?2 AND queue < ?3 LIMIT 1`,
  );
  const entries = sql.statement(
    `DELETE FROM entries WHERE seq IN (
       SELECT seq FROM entries WHERE transcript = ?1 ORDER BY seq LIMIT ${batch} ${dialect.forUpdate})`,
  );
  const time = sql.statement('DELETE FROM transcript_times WHERE transcript = ?1');
  // The newest stays as long as an older one has entries: nobody is led back to that.
  const archived = sql.statement(
    `DELETE FROM transcripts WHERE conversation = ?2 AND (
       (id = ?1 AND seq < (SELECT MAX(seq) FROM transcripts WHERE conversation = ?2))
       OR NOT EXISTS (SELECT 1 FROM transcript_times
         WHERE transcript = ?2 OR (transcript >= ?3 AND transcript < ?4)))`,
  );
  const said = sql.statement('DELETE FROM said WHERE transcript = ?1');

  /**
   * Removes the oldest entries of a transcript. False if nothing is left, if something was added meanwhile, or if a
   * message waits, whose turn continues the transcript.
   */
  function* shorten(transcript: string, queue: string, before: number): Steps<boolean> {
    if ((yield* waiting(queue, `${queue}~`, `${queue}\x7f`)).rows.length > 0) return false;
    if ((yield* stillQuiet(transcript, before)).rows.length === 0) return false;
    yield* said(transcript);
    if ((yield* entries(transcript)).changed === batch) return true;
    yield* time(transcript);
    yield* archived(transcript, queue, `${queue}@`, `${queue}A`);
    return false;
  }

  async function removeQuiet(transcript: string, before: number): Promise<void> {
    const queue = transcriptRoom(transcript);
    while (await sql.beforeArrivals(queue, shorten(transcript, queue, before))) await setImmediate();
  }

  return async (before) => {
    for (let last: Quiet = { transcript: '', last_at: Number.MIN_SAFE_INTEGER }; ;) {
      const found = await sql.read(quiet(before, last.last_at, last.transcript));
      for (const { transcript } of found) await removeQuiet(transcript, before);
      const end = found.at(-1);
      if (end === undefined || found.length < page) return;
      last = end;
    }
  };
}
