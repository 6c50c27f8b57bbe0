import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createCapabilityRecords } from '../capability-records.ts';
import { createGroupContext } from '../group-context.ts';
import { createPendingRequests } from '../pending-requests.ts';
import { createLocalSignals } from '../signals.ts';
import { createUsage, createUses } from '../usage.ts';
import { createBackup } from './create-backup.ts';
import { createBatch } from './create-batch.ts';
import { createInbox } from './create-inbox.ts';
import { createKeyed } from './create-keyed.ts';
import { createOutbox } from './create-outbox.ts';
import { createPrune } from './create-prune.ts';
import { createTranscripts } from './create-transcripts.ts';
import { createSql } from './create-sql.ts';
import type { Connection } from './open-connection.ts';
import type { Bell } from './create-serve.ts';
import type { Steps } from '../sql.ts';
import type { Store, Backlog, Stopped, Use } from '../store.ts';

/** The store on an open, migrated connection, which it closes with itself. Every method rejects where the database fails (Q11). */
export function createEmbeddedStore(
  connection: Connection,
  {
    clock,
    log,
    findFile = () => undefined,
    release,
  }: Readonly<{
    clock: Clock;
    log: Log;
    /** Throws where the file is no longer where it was opened. */
    findFile?: () => void;
    release: () => void;
  }>,
): Store {
  const batch = createBatch(connection);
  const sql = createSql(connection, clock);
  const toAnswer = createBell();
  const toSend = createBell();
  const {
    finish,
    add: addWork,
    addUnless,
    dropUntaken: drop,
    stopTaken: mark,
    ...inbox
  } = createInbox(connection, batch, clock, log, {
    changed: toAnswer.ring,
    onWork: toAnswer.onRing,
  });
  const { add, ...outbox } = createOutbox(connection, batch, clock, log, {
    changed: toSend.ring,
    onWork: toSend.onRing,
  });
  const { append, ...transcripts } = createTranscripts(connection, log);
  const { cancel, ...asks } = createPendingRequests(sql, log);
  const addUse = createAddUse(connection);
  const keyed = createKeyed(connection, log);
  const health = keyed('health');
  const never = new AbortController().signal;
  let open = true;

  return {
    inbox,
    outbox,
    transcripts,
    overheard: createGroupContext(sql, log),
    asks,
    capabilities: createCapabilityRecords(sql),
    signals: createLocalSignals(),
    async commit({ entries = [], outbox: rows = [], work = [], usage: uses = [], done }) {
      const lane = await batch.write('process', () => {
        for (const { transcript, entry } of entries) append(transcript, entry);
        for (const row of rows) add(row);
        for (const { message, lane } of work) addWork(message, lane);
        for (const use of uses) addUse(use);
        return done === undefined ? undefined : finish(done);
      });
      if (rows.length > 0) toSend.ring();
      if (work.length > 0) toAnswer.ring();
      else if (lane !== undefined) toAnswer.ring(lane);
    },
    async addWork(work, refuse) {
      const refused = await batch.write('process', () => addUnless(work, refuse));
      if (refused === undefined) toAnswer.ring();
      return refused;
    },
    async stop({ items, asks: asked = [] }) {
      function* stop(): Steps<Stopped> {
        const cancelled = yield* cancel(asked, clock.now());
        const dropped = items.filter(drop);
        return { cancelled, dropped, stopping: items.filter(mark) };
      }
      const stopped = await sql.write('server', stop());
      if (stopped.dropped.length > 0) toAnswer.ring();
      return stopped;
    },
    keyed,
    usage: createUsage(sql),
    // The one owner of the store leads in everything and shares no limit.
    async lead(what, until) {
      until.throwIfAborted();
      log.debug({ what }, 'this process owns the store and leads');
      return never;
    },
    reserve: async () => 0,
    countUse: createUses(sql),
    prune: createPrune(connection),
    // Rarely asked, and large: 5 files and 26 statements.
    async forget(sender) {
      const { createForget } = await import('./create-forget.ts');
      return createForget(connection)(sender);
    },
    backlog: createBacklog(connection),
    backup: createBackup(connection),
    async check() {
      findFile();
      await health.set('checked', clock.now());
    },
    async close() {
      if (!open) return;
      open = false;
      batch.flush();
      connection.close();
      release();
    },
  };
}

/** Rings for anyone who waits for one kind of work. */
function createBell(): Bell {
  const listeners = new Map<() => void, boolean>();
  return {
    ring(lane) {
      for (const [listener, beside] of listeners)
        if (lane === undefined || lane.includes('~') === beside) listener();
    },
    onRing: (listener, beside) => void listeners.set(listener, beside),
  };
}

function createAddUse(connection: Connection): (use: Use) => void {
  const insert = connection.prepare(
    `INSERT INTO usage (day, sender, conversation, skill, model, requests, input, output, cache_read, cache_write)
     VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?)
     ON CONFLICT (day, sender, conversation, skill, model) DO UPDATE SET requests = requests + 1,
       input = input + excluded.input, output = output + excluded.output,
       cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write`,
  );
  return ({ day, sender, conversation, skill, model, tokens }) => {
    const { input, output, cacheRead, cacheWrite } = tokens;
    insert.run(day, sender, conversation, skill, model, input, output, cacheRead, cacheWrite);
  };
}

/** `Store.backlog` on the embedded store: each count walks an index that holds only what it counts. */
function createBacklog(connection: Connection): () => Promise<Backlog> {
  const counting = (rows: string) => {
    const statement = connection.prepare<Readonly<{ rows: number }>>(`SELECT COUNT(*) AS rows FROM ${rows}`);
    return (): number => statement.get()?.rows ?? 0;
  };
  const waiting = counting(`inbox WHERE status = 'waiting'`);
  const dead = counting(`inbox WHERE status = 'dead'`);
  const unsent = counting('outbox WHERE finished_at IS NULL');
  return async () => ({ inboxWaiting: waiting(), inboxDead: dead(), outboxWaiting: unsent() });
}
