import { conversationKey } from '../../core/conversation.ts';
import { bounds } from '../bounds.ts';
import { writeItem } from '../grow-item.ts';
import { acceptMessages, personInQueue, type Arrival, type Arrived } from './accept-messages.ts';
import type { PostgresParts } from './create-postgres-store.ts';
import { createPostgresBatch } from './create-batch.ts';
import { lockOf, jobQueueOf } from './job-queue-of.ts';

type Accepting = Extract<Arrival, { type: 'accept' }>;

const batchSize = 200;

/** Stores a message or its edit, on disk when it resolves (Q1). Arrivals at the same time share a transaction. */
export function createArrivals(backing: PostgresParts): (arrival: Arrival) => Promise<Arrived> {
  const { database, jobs, announce } = backing;

  /** Stores messages that can't be joined and are nearly always new, in one statement. */
  async function takeNew(arrivals: readonly Accepting[]): Promise<readonly Arrived[]> {
    const queues = arrivals.map(queueOf);
    const locks = [...new Set(queues)].map((queue) => lockOf('inbox', queue));
    const times = arrivals.map(({ options }) => options.now);
    const { rows } = await database.query<Readonly<{ outcomes: readonly (Arrived | 'known')[] }>>(
      'SELECT skillet.accept_new($1, $2, $3, $4, $5, $6, $7, $8) AS outcomes',
      [
        locks.sort((a, b) => (a < b ? -1 : 1)).map(String),
        arrivals.map(({ message }) => message.id),
        queues,
        queues.map((queue) => jobQueueOf('inbox', queue)),
        arrivals.map(({ message }) => writeItem(message)),
        times,
        bounds.queueItems,
        arrivals.map(({ message }, n) => personInQueue(queues[n] ?? '', message)),
      ],
    );
    const outcomes = rows[0]?.outcomes ?? [];
    const stored = queues.filter((_, n) => outcomes[n] === 'stored');
    if (stored.length > 0) announce('inbox', stored);
    const twins = await takeAny(arrivals.filter((_, n) => outcomes[n] === 'known'));
    const twin = twins.values();
    return outcomes.map((outcome) => (outcome === 'known' ? (twin.next().value ?? 'duplicate') : outcome));
  }

  async function takeAny(arrivals: readonly Arrival[]): Promise<readonly Arrived[]> {
    if (arrivals.length === 0) return [];
    const queues = arrivals.map(queueOf);
    const locks = queues.map((queue) => lockOf('inbox', queue));
    const taken = await database.transaction({ outlives: 'disk', locks }, async (query) => {
      const results = await acceptMessages(query, arrivals);
      const offers = queues.flatMap((queue, n) =>
        results[n] === 'stored' ? [{ queue, inMs: holdMs(arrivals[n]) }] : [],
      );
      await jobs.offer(query, 'inbox', offers);
      return results;
    });
    taken.forEach((result, n) => {
      if (result === 'stored') announce('inbox', queues.slice(n, n + 1), holdMs(arrivals[n]));
    });
    return taken;
  }

  return createPostgresBatch<Arrival, Arrived>(async (arrivals) => {
    await jobs.prepare('inbox', arrivals.map(queueOf));
    return arrivals.every(isPlain) ? takeNew(arrivals) : takeAny(arrivals);
  }, batchSize);
}

function isPlain(arrival: Arrival): arrival is Accepting {
  return arrival.type === 'accept' && arrival.options.join === undefined;
}

function holdMs(arrival: Arrival | undefined): number {
  return arrival?.type === 'accept' ? (arrival.options.join?.holdMs ?? 0) : 0;
}

function queueOf({ message }: Arrival): string {
  return conversationKey(message.conversation);
}
