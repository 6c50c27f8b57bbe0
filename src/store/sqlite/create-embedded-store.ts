import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createLocalSignals } from '../signals.ts';
import { createAsks } from './create-pending-requests.ts';
import { createBackup } from './create-backup.ts';
import { createBatch } from './create-batch.ts';
import { createCapabilityRecords } from './create-capability-records.ts';
import { createInbox } from './create-inbox.ts';
import { createKeyed } from './create-keyed.ts';
import { createOutbox } from './create-outbox.ts';
import { createOverheard } from './create-group-context.ts';
import { createPrune } from './create-prune.ts';
import { createTranscripts } from './create-transcripts.ts';
import { createUsage, createUses } from './create-usage.ts';
import type { Connection } from './open-connection.ts';
import type { Bell } from './create-serve.ts';
import type { Store, Backlog } from '../store.ts';

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
  const { cancel, ...asks } = createAsks(connection, clock, log);
  const { usage, add: addUse } = createUsage(connection);
  const keyed = createKeyed(connection, log);
  const health = keyed('health');
  const never = new AbortController().signal;
  let open = true;

  return {
    inbox,
    outbox,
    transcripts,
    overheard: createOverheard(connection, log),
    asks,
    capabilities: createCapabilityRecords(connection),
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
      const stopped = connection.write('process', () => {
        const cancelled = asked.flatMap(({ conversation, requester }) => cancel(conversation, requester));
        const dropped = items.filter(drop);
        return { cancelled, dropped, stopping: items.filter(mark) };
      });
      if (stopped.dropped.length > 0) toAnswer.ring();
      return stopped;
    },
    keyed,
    usage,
    // The one owner of the store leads in everything and shares no limit.
    async lead(what, until) {
      until.throwIfAborted();
      log.debug({ what }, 'this process owns the store and leads');
      return never;
    },
    reserve: async () => 0,
    countUse: createUses(connection, clock),
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
