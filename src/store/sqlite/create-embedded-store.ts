import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createCapabilityRecords } from '../capability-records.ts';
import { createGroupContext } from '../group-context.ts';
import { createInbox } from '../inbox.ts';
import { createKeyed } from '../keyed.ts';
import { createFeedbackStore } from '../feedback.ts';
import { createMemories } from '../memories.ts';
import { createOutbox } from '../outbox.ts';
import { createPendingRequests } from '../pending-requests.ts';
import { createPrune } from '../prune.ts';
import { createRoutineStore } from '../routines.ts';
import { createLocalSignals } from '../signals.ts';
import type { ByOperator } from '../sql.ts';
import type { Store, Backlog } from '../store.ts';
import { createTranscripts } from '../transcripts.ts';
import { writeWhole } from '../write-whole.ts';
import { createUsage, createUses } from '../usage.ts';
import { createSqliteBatch, type Batch } from './create-batch.ts';
import { createSqliteCommit } from './create-commit.ts';
import { createSqliteItems } from './create-items.ts';
import { createSqliteParts } from './create-parts.ts';
import type { Bell } from './create-worker.ts';
import { createSqliteSql, type LocalSql } from './create-sql.ts';
import type { SqliteConnection } from './open-connection.ts';

export type SqliteParts = Readonly<{
  connection: SqliteConnection;
  sql: LocalSql;
  batch: Batch;
  clock: Clock;
  log: Log;
}>;

/** How often to try, because writes or a backup may block emptying the journal for a moment. */
const emptyTries = 200;
const emptyEveryMs = 50;

/** Makes the store and closes the connection with it. Methods reject if the database fails (Q11). */
export function createEmbeddedStore(
  connection: SqliteConnection,
  own: Readonly<{
    clock: Clock;
    log: Log;
    /** Throws if the file was removed or replaced. */
    findFile?: () => void;
    release: () => void;
  }>,
): Store {
  const { clock, log, findFile = () => undefined, release } = own;
  const batch = createSqliteBatch(connection);
  const sql = createSqliteSql(connection, clock);
  const backing = { connection, sql, batch, clock, log };
  const [toAnswer, toSend] = [createBell(), createBell()];
  const items = createSqliteItems(backing, toAnswer);
  const parts = createSqliteParts(backing, toSend);
  const { cancel, ...pendingRequests } = createPendingRequests(sql, log);
  const ofInbox = { ...items, byOperator: createByHand(sql, toAnswer) };
  const { inbox, stop, beside } = createInbox(sql, ofInbox, { clock, log, cancel });
  const { routines, move } = createRoutineStore(sql, { now: clock.now, log });
  const keyed = createKeyed(sql, log);
  const health = keyed('health');
  const never = new AbortController().signal;
  let open = true;

  return {
    inbox,
    outbox: createOutbox(sql, { ...parts, byOperator: createByHand(sql, toSend) }, { clock, log }),
    transcripts: createTranscripts(sql, log),
    groupContext: createGroupContext(sql, log),
    pendingRequests,
    capabilities: createCapabilityRecords(sql, 'capabilities'),
    serverAccounts: createCapabilityRecords(sql, 'servers'),
    routines,
    memories: createMemories(sql, log),
    feedback: createFeedbackStore(sql, log),
    signals: createLocalSignals(),
    ...createSqliteCommit(backing, { items, parts, beside, move, toAnswer, toSend }),
    stop,
    keyed,
    files: () => undefined,
    ...createUsage(sql),
    async lead(what, until) {
      until.throwIfAborted();
      log.debug({ what }, 'this process owns the store and leads');
      return never;
    },
    reserve: async () => 0,
    countUse: createUses(sql),
    prune: createPrune(sql),
    // Loaded only when needed: it is rarely asked for, and has 5 files and 26 statements.
    async forget(...whom) {
      const { createForget } = await import('../forget-rows.ts');
      const forgotten = await createForget(sql)(...whom);
      await emptyJournal(connection);
      return forgotten;
    },
    async person(...whom) {
      const { createReadPerson } = await import('../read-person.ts');
      return createReadPerson(sql)(...whom);
    },
    async placesNaming(sender) {
      const { createPlacesNaming } = await import('../forget-rows.ts');
      return createPlacesNaming(sql)(sender);
    },
    backlog: createBacklog(connection),
    async backup(file, onProgress) {
      await writeWhole(file, (part) => connection.backup(part, onProgress));
      return true;
    },
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

function createBell(): Bell {
  const listeners = new Map<() => void, boolean>();
  return {
    ring(queue) {
      for (const [listener, beside] of listeners)
        if (queue === undefined || queue.includes('~') === beside) listener();
    },
    onRing: (listener, beside) => void listeners.set(listener, beside),
  };
}

function createByHand(sql: LocalSql, { ring }: Bell): ByOperator {
  return async (_keys, survives, script, changed) => {
    const result = await sql.write(survives, script);
    if (changed(result)) ring();
    return result;
  };
}

/** Empties the journal, which contains old pages and thus what was forgotten (Q12). */
async function emptyJournal(connection: SqliteConnection): Promise<void> {
  for (let tries = 1; !connection.emptyJournal(); tries++) {
    if (tries === emptyTries) throw new Error('The journal of the store can not be emptied: it is in use.');
    await setTimeout(emptyEveryMs);
  }
}

function createBacklog(connection: SqliteConnection): () => Promise<Backlog> {
  const counting = (rows: string) => {
    const statement = connection.prepare<Readonly<{ rows: number }>>(`SELECT COUNT(*) AS rows FROM ${rows}`);
    return (): number => statement.get()?.rows ?? 0;
  };
  const waiting = counting(`inbox WHERE status = 'waiting'`);
  const dead = counting(`inbox WHERE status = 'dead'`);
  const unsent = counting('outbox WHERE finished_at IS NULL');
  return async () => ({ inboxWaiting: waiting(), inboxDead: dead(), outboxWaiting: unsent() });
}
