import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createCapabilityRecords } from '../capability-records.ts';
import { createForget, createPlacesNaming } from '../forget-rows.ts';
import { createGroupContext } from '../group-context.ts';
import { createInbox } from '../inbox.ts';
import { createKeyed } from '../keyed.ts';
import { createFeedbackStore } from '../feedback.ts';
import { createMemories } from '../memories.ts';
import { createOutbox } from '../outbox.ts';
import { createPendingRequests } from '../pending-requests.ts';
import { createPrune } from '../prune.ts';
import { createReadPerson } from '../read-person.ts';
import { createRoutineStore } from '../routines.ts';
import type { Backlog, Store } from '../store.ts';
import { createTranscripts } from '../transcripts.ts';
import { createUsage, createUses } from '../usage.ts';
import { createByHand } from './create-by-hand.ts';
import { createPostgresCommit } from './create-commit.ts';
import { createFiles, sweepChunks } from './create-files.ts';
import { createHeartbeat } from './create-heartbeat.ts';
import { createPostgresItems } from './create-items.ts';
import { createLead } from './create-lead.ts';
import { createPostgresParts } from './create-parts.ts';
import { createPresence, type ProcessId } from './create-presence.ts';
import { createReserve } from './create-reserve.ts';
import { createPostgresWorker } from './create-worker.ts';
import { createPostgresSql } from './create-sql.ts';
import { createSignals, type Announcer, type NotifyBus } from './create-notify-bus.ts';
import type { QueueKind, Leases } from './lease.ts';
import type { Database } from './open-database.ts';
import type { Jobs } from './open-jobs.ts';
import { hastenQueues, sweepQueues } from './sweep-queues.ts';

export type PostgresParts = Readonly<{
  database: Database;
  jobs: Jobs;
  leases: Leases;
  /** Tells that queues (default: any) are due now, or in `inMs`, which only this process learns. */
  announce(kind: QueueKind, queues?: readonly string[], inMs?: number): void;
  self: ProcessId;
  clock: Clock;
  log: Log;
}>;

const checkMs = 3_000;

/**
 * Makes the store and closes the database with it. Methods reject while the database is away, and work again afterwards
 * (Q11).
 */
export function createPostgresStore(backing: PostgresParts, wire: NotifyBus, announcer: Announcer): Store {
  const { database, jobs, leases, clock, log } = backing;
  const sql = createPostgresSql(database, leases);
  const { cancel, ...pendingRequests } = createPendingRequests(sql, log);
  // Uses the listening connection, so that queues stay held even if every connection of the pool waits, as for a locked
  // table.
  const heartbeat = createHeartbeat((claims) => jobs.touch(wire.query, claims), log);
  const presence = createPresence(backing, heartbeat);
  const leader = createLead(database, log);
  const prune = createPrune(sql);
  const forget = createForget(sql);
  const closing = new AbortController();
  const shared = { backing, announcer, heartbeat, closed: closing.signal };
  const ofInbox = {
    ...createPostgresItems(backing),
    startWorker: createPostgresWorker({ ...shared, kind: 'inbox' }),
    byOperator: createByHand(backing, 'inbox'),
  };
  const ofOutbox = {
    ...createPostgresParts(backing),
    startWorker: createPostgresWorker({ ...shared, kind: 'outbox' }),
    byOperator: createByHand(backing, 'outbox'),
  };
  const { inbox, stop, beside } = createInbox(sql, ofInbox, { clock, log, cancel });
  const { routines, move } = createRoutineStore(sql, { now: clock.now, log });
  const files = createFiles(backing);
  const closed: { done?: Promise<void> } = {};

  async function close(): Promise<void> {
    closing.abort();
    leader.close();
    await presence.close();
    heartbeat.close();
    await announcer.close();
    wire.close();
    await jobs.close();
    await database.close();
  }

  return {
    inbox,
    outbox: createOutbox(sql, ofOutbox, { clock, log }),
    transcripts: createTranscripts(sql, log),
    groupContext: createGroupContext(sql, log),
    pendingRequests,
    capabilities: createCapabilityRecords(sql, 'capabilities'),
    serverAccounts: createCapabilityRecords(sql, 'servers'),
    routines,
    memories: createMemories(sql, log),
    feedback: createFeedbackStore(sql, log),
    signals: createSignals(wire),
    ...createPostgresCommit(backing, { beside, move }),
    stop,
    keyed: createKeyed(sql, log),
    files: () => files,
    ...createUsage(sql),
    lead: leader.lead,
    reserve: createReserve(database),
    countUse: createUses(sql),
    async prune(now, retentionMs) {
      await prune(now, retentionMs);
      await database.query('DELETE FROM limits WHERE free_at < extract(epoch FROM now()) * 1000');
      await sweepChunks(backing);
      await sweepQueues(backing);
    },
    async forget(...whom) {
      const forgotten = await forget(...whom);
      // Queues may have waited for a removed item. Vacuum later overwrites what was removed.
      await hastenQueues(backing);
      return forgotten;
    },
    person: createReadPerson(sql),
    placesNaming: createPlacesNaming(sql),
    backup: async () => false,
    async backlog() {
      const { rows } = await database.query<Backlog>(
        `SELECT (SELECT count(*) FROM skillet.inbox WHERE status = 'waiting') AS "inboxWaiting",
           (SELECT count(*) FROM skillet.inbox WHERE status = 'dead') AS "inboxDead",
           (SELECT count(*) FROM skillet.outbox WHERE finished_at IS NULL) AS "outboxWaiting"`,
      );
      return rows[0] ?? { inboxWaiting: 0, inboxDead: 0, outboxWaiting: 0 };
    },
    async check() {
      await database.transaction({ outlives: 'disk', withinMs: checkMs }, (query) =>
        query('UPDATE skillet.health SET checked_at = now()'),
      );
    },
    close: () => (closed.done ??= close()),
  };
}
