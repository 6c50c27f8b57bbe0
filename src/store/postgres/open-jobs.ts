import { PgBoss } from 'pg-boss';
import { z } from 'zod';
import type { Log } from '../../lib/log.ts';
import type { Epoch } from './create-epoch.ts';
import { heartbeatSeconds, type Claim, type Kind } from './lease.ts';
import type { Database, Query } from './open-database.ts';
import { queueOf, queueOfChannel } from './queue-of.ts';

/** A lane that has work, and in how many milliseconds (0: now). */
export type Offer = Readonly<{ lane: string; inMs: number }>;

/**
 * pg-boss, which wakes, locks, retries and takes over lanes. A job says "this lane has work": a lane with anything waiting
 * has exactly one that is queued or held. A queue for each kind and channel, so that a process is given only lanes it serves.
 */
export type Jobs = Readonly<{
  /** Makes the queues of these lanes where there are none. To be called before a transaction that offers them. */
  prepare(kind: Kind, lanes: Iterable<string>): Promise<void>;
  prepareChannels(kind: Kind, channels: readonly string[]): Promise<void>;
  /** Inside the transaction that wrote the work, holding the lane's lock. A lane that has a job keeps it. */
  offer(query: Query, kind: Kind, offers: readonly Offer[]): Promise<void>;
  /** The same for one lane whose job may have been put off: it is due now. */
  hasten(query: Query, kind: Kind, lane: string): Promise<void>;
  /** Claims lanes of a channel that are due, oldest first: up to `most`, or somewhat fewer; `more`: there may be others. */
  claim(
    kind: Kind,
    channel: string,
    most: number,
  ): Promise<Readonly<{ claims: readonly Claim[]; more: boolean }>>;
  /** Tells that these are alive. Gives those that were lost. */
  touch(claims: readonly Claim[]): Promise<readonly Claim[]>;
  close(): Promise<void>;
}>;

/** What pg-boss answers; its types say nothing of it. */
const settledJobs = z.object({ settled: z.array(z.string()) });

const day = 24 * 60 * 60;

const queueOptions = {
  // One job of a lane, queued or held.
  policy: 'exclusive',
  heartbeatSeconds,
  // A job that fails for good would block its lane: it never does.
  retryLimit: 2_000_000_000,
  retryDelay: 0,
  expireInSeconds: day,
  retentionSeconds: 3_650 * day,
  deleteAfterSeconds: 60,
} as const;

/** Starts pg-boss in its own schema `skillet_jobs`, over our pool. To be called by one process at a time: it may migrate. */
export async function openJobs(database: Database, epoch: Epoch, log: Log): Promise<Jobs> {
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
  const queues = new Map<string, Promise<void>>();

  async function prepareQueue(queue: string): Promise<void> {
    const known = queues.get(queue) ?? createQueue(queue);
    queues.set(queue, known);
    await known.catch((error: unknown) => {
      queues.delete(queue);
      throw error;
    });
  }

  async function createQueue(queue: string): Promise<void> {
    await boss.createQueue(queue, queueOptions);
    // Reads the queue's settings, which would otherwise be read on a second connection in the midst of a transaction.
    await boss.findJobs(queue, { key: '' });
  }

  const over = (query: Query) => ({
    db: {
      executeSql: async (text: string, values?: unknown[]) => ({
        rows: [...(await query(text, values)).rows],
      }),
    },
  });

  return {
    async prepare(kind, lanes) {
      const wanted = new Set(Array.from(lanes, (lane) => queueOf(kind, lane)));
      for (const queue of wanted) await prepareQueue(queue);
    },
    async prepareChannels(kind, channels) {
      for (const channel of channels) await prepareQueue(queueOfChannel(kind, encodeURIComponent(channel)));
    },
    async offer(query, kind, offers) {
      const byQueue = Map.groupBy(offers, ({ lane }) => queueOf(kind, lane));
      for (const [queue, some] of byQueue) {
        await boss.insert(
          queue,
          some.map(({ lane, inMs }) => ({ singletonKey: lane, data: { lane }, startAfter: inMs / 1_000 })),
          over(query),
        );
      }
    },
    async hasten(query, kind, lane) {
      await boss.upsert(queueOf(kind, lane), { lane }, { singletonKey: lane, startAfter: 0, ...over(query) });
    },
    async claim(kind, channel, most) {
      const queue = queueOfChannel(kind, encodeURIComponent(channel));
      // The number is part of pg-boss's statement: few numbers, few statements to prepare.
      const batchSize = 2 ** Math.floor(Math.log2(most));
      const [current, jobs] = await Promise.all([
        epoch.current(),
        boss.fetch<Readonly<{ lane: string }>>(queue, { batchSize }),
      ]);
      const claims = jobs.map(({ id, retryCount, data }) => ({
        lane: data.lane,
        queue,
        job: { id, retryCount },
        epoch: current,
      }));
      return { claims, more: claims.length === batchSize };
    },
    async touch(claims) {
      const lost: Claim[] = [];
      for (const [queue, held] of Map.groupBy(claims, (claim) => claim.queue)) {
        const jobs = held.map(({ job }) => job);
        const alive = new Set(settledJobs.parse(await boss.touch(queue, jobs)).settled);
        lost.push(...held.filter(({ job }) => !alive.has(job.id)));
      }
      return lost;
    },
    close: () => boss.stop({ graceful: false, close: false }),
  };
}
