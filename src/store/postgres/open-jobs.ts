import { PgBoss } from 'pg-boss';
import { z } from 'zod';
import type { Log } from '../../lib/log.ts';
import type { Epoch } from './create-epoch.ts';
import { heartbeatSeconds, type Claim, type QueueKind } from './lease.ts';
import type { Database, Query } from './open-database.ts';
import { jobQueueOf, jobQueueOfChannel } from './job-queue-of.ts';

/** A queue that has work, and in how many milliseconds that is due (0: now). */
export type JobOffer = Readonly<{ queue: string; inMs: number }>;

/**
 * The jobs by which pg-boss wakes, locks, retries and takes over queues. A queue with work has exactly one job, waiting
 * or held. Each kind and channel has one job queue.
 */
export type Jobs = Readonly<{
  /** Creates missing job queues. Call it before the transaction that offers. */
  prepare(kind: QueueKind, queues: Iterable<string>): Promise<void>;
  prepareChannels(kind: QueueKind, channels: readonly string[]): Promise<void>;
  /** Gives a job to queues that have none. Call it in the transaction that writes the work, under the queue's lock. */
  offer(query: Query, kind: QueueKind, offers: readonly JobOffer[]): Promise<void>;
  /** Like `offer`, and makes an existing job due now. */
  hasten(query: Query, kind: QueueKind, queue: string): Promise<void>;
  /** Claims the oldest jobs, at most `most`. `more` is true if there may be others. */
  claim(
    kind: QueueKind,
    channel: string,
    most: number,
  ): Promise<Readonly<{ claims: readonly Claim[]; more: boolean }>>;
  /** Sends heartbeats for claims, and returns those that were lost. */
  touch(query: Query, claims: readonly Claim[]): Promise<readonly Claim[]>;
  close(): Promise<void>;
}>;

const settledJobs = z.object({ settled: z.array(z.string()) });

const day = 24 * 60 * 60;

const jobQueueOptions = {
  // A queue has one job, waiting or held.
  policy: 'exclusive',
  heartbeatSeconds,
  // A job that failed for good would block its queue.
  retryLimit: 2_000_000_000,
  retryDelay: 0,
  expireInSeconds: day,
  retentionSeconds: 3_650 * day,
  deleteAfterSeconds: 60,
} as const;

/**
 * Opens pg-boss in the schema `skillet_jobs` on our pool. Only one process may do it at a time, because it may migrate.
 */
export async function openJobs(database: Database, epoch: Epoch, log: Log): Promise<Jobs> {
  const boss = await openBoss(database, log);
  const prepareJobQueue = createPrepareJobQueue(boss);
  return {
    async prepare(kind, queues) {
      const wanted = new Set(Array.from(queues, (queue) => jobQueueOf(kind, queue)));
      for (const jobQueue of wanted) await prepareJobQueue(jobQueue);
    },
    async prepareChannels(kind, channels) {
      for (const channel of channels)
        await prepareJobQueue(jobQueueOfChannel(kind, encodeURIComponent(channel)));
    },
    async offer(query, kind, offers) {
      if (offers.length === 0) return;
      await query(
        `SELECT skillet.offer(job_queue, queue, in_ms)
         FROM unnest($1::text[], $2::text[], $3::bigint[]) AS each (job_queue, queue, in_ms)`,
        [
          offers.map(({ queue }) => jobQueueOf(kind, queue)),
          offers.map(({ queue }) => queue),
          offers.map(({ inMs }) => inMs),
        ],
      );
    },
    async hasten(query, kind, queue) {
      await boss.upsert(
        jobQueueOf(kind, queue),
        { queue },
        { singletonKey: queue, startAfter: 0, ...over(query) },
      );
    },
    async claim(kind, channel, most) {
      const jobQueue = jobQueueOfChannel(kind, encodeURIComponent(channel));
      // pg-boss writes this number into the statement, so few numbers mean few prepared statements.
      const batchSize = 2 ** Math.floor(Math.log2(most));
      const [current, jobs] = await Promise.all([
        epoch.current(),
        boss.fetch<Readonly<{ queue: string }>>(jobQueue, { batchSize }),
      ]);
      const claims = jobs.map(({ id, retryCount, data }) => ({
        queue: data.queue,
        jobQueue,
        job: { id, retryCount },
        epoch: current,
      }));
      return { claims, more: claims.length === batchSize };
    },
    async touch(query, claims) {
      const lost: Claim[] = [];
      for (const [jobQueue, held] of Map.groupBy(claims, (claim) => claim.jobQueue)) {
        const jobs = held.map(({ job }) => job);
        const alive = new Set(settledJobs.parse(await boss.touch(jobQueue, jobs, over(query))).settled);
        lost.push(...held.filter(({ job }) => !alive.has(job.id)));
      }
      return lost;
    },
    close: () => boss.stop({ graceful: false, close: false }),
  };
}

/** Options of pg-boss by which it makes its statements on this connection. */
const over = (query: Query) => ({
  db: {
    executeSql: async (text: string, values?: unknown[]) => ({
      rows: [...(await query(text, values)).rows],
    }),
  },
});

async function openBoss(database: Database, log: Log): Promise<PgBoss> {
  const boss = new PgBoss({
    db: {
      async executeSql(text, values = []) {
        if (values.length === 0) return (await database.script(text)) as { rows: unknown[] };
        return { rows: [...(await database.query(text, values)).rows] };
      },
    },
    schema: 'skillet_jobs',
    schedule: false,
    superviseIntervalSeconds: 2,
    monitorIntervalSeconds: 2,
    maintenanceIntervalSeconds: 60,
    flowIntervalSeconds: day,
    monitorVacuum: false,
  });
  boss.on('error', (error) => log.debug({ err: error }, 'the job engine could not reach its tables'));
  boss.on('warning', ({ message }) => log.debug({ warning: message }, 'the job engine warns'));
  await boss.start();
  return boss;
}

/** Creates job queues in this process once each, also if it is called twice at a time. */
function createPrepareJobQueue(boss: PgBoss): (jobQueue: string) => Promise<void> {
  const jobQueues = new Map<string, Promise<void>>();

  async function createQueue(jobQueue: string): Promise<void> {
    await boss.createQueue(jobQueue, jobQueueOptions);
    // Loads the settings of the job queue, which would otherwise be read on a second connection inside a transaction.
    await boss.findJobs(jobQueue, { key: '' });
  }

  return async (jobQueue) => {
    const known = jobQueues.get(jobQueue) ?? createQueue(jobQueue);
    jobQueues.set(jobQueue, known);
    await known.catch((error: unknown) => {
      jobQueues.delete(jobQueue);
      throw error;
    });
  };
}
