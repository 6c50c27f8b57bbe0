import { OperatorError } from '../../core/errors.ts';
import { createCapabilityRecords } from '../capability-records.ts';
import { createGroupContext } from '../group-context.ts';
import { createPendingRequests } from '../pending-requests.ts';
import type { Backlog, Store } from '../store.ts';
import { createUsage, createUses } from '../usage.ts';
import type { Backing } from './backing.ts';
import type { Announcer } from './create-announcer.ts';
import { createCommit } from './create-commit.ts';
import { createForget } from './create-forget.ts';
import { createHeartbeat } from './create-heartbeat.ts';
import { createInbox, inboxHead } from './create-inbox.ts';
import { createKeyed } from './create-keyed.ts';
import { createLead } from './create-lead.ts';
import { createOutbox, outboxHead } from './create-outbox.ts';
import { createPrune } from './create-prune.ts';
import { createReserve } from './create-reserve.ts';
import { createServe } from './create-serve.ts';
import { createSignals } from './create-signals.ts';
import { createStop } from './create-stop.ts';
import { createTranscripts } from './create-transcripts.ts';
import { createSql } from './create-sql.ts';
import type { NotifyBus } from './create-notify-bus.ts';
import { hastenLanes, sweepLanes } from './sweep-lanes.ts';

const checkMs = 3_000;

/** The store on a migrated database, which it closes with itself. Every method rejects while the database is away, and works again when it is back (Q11). */
export function createPostgresStore(backing: Backing, wire: NotifyBus, announcer: Announcer): Store {
  const { database, jobs, leases, log } = backing;
  const sql = createSql(database, leases);
  const { cancel, ...asks } = createPendingRequests(sql, log);
  const heartbeat = createHeartbeat(jobs, log);
  const leader = createLead(database, log);
  const prune = createPrune(database);
  const closing = new AbortController();
  const shared = { backing, announcer, heartbeat, closed: closing.signal };
  const inbox = createInbox(
    backing,
    createServe({ ...shared, kind: 'inbox', head: inboxHead, waiting: `inbox WHERE status = 'waiting'` }),
  );
  const outbox = createOutbox(
    backing,
    createServe({ ...shared, kind: 'outbox', head: outboxHead, waiting: 'outbox WHERE finished_at IS NULL' }),
  );
  const closed: { done?: Promise<void> } = {};

  async function close(): Promise<void> {
    closing.abort();
    leader.close();
    heartbeat.close();
    await announcer.close();
    wire.close();
    await jobs.close();
    await database.close();
  }

  return {
    inbox,
    outbox,
    transcripts: createTranscripts(database, log),
    overheard: createGroupContext(sql, log),
    asks,
    capabilities: createCapabilityRecords(sql),
    signals: createSignals(wire),
    ...createCommit(backing),
    stop: createStop(backing, cancel),
    keyed: createKeyed(database, log),
    usage: createUsage(sql),
    lead: leader.lead,
    reserve: createReserve(database),
    countUse: createUses(sql),
    async prune(now, retentionMs) {
      await prune(now, retentionMs);
      await sweepLanes(backing);
    },
    forget: createForget(database, () => hastenLanes(backing)),
    async backup() {
      throw new OperatorError(
        'A PostgreSQL store is backed up by PostgreSQL’s own tools: pg_dump --format=custom --file=FILE with the URL of ' +
          '[store] url, while the bot runs.',
      );
    },
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
