import { conversationKey } from '../../core/conversation.ts';
import type { Step, Store } from '../store.ts';
import { addWork } from './accept-messages.ts';
import type { Backing } from './backing.ts';
import { laneOf } from './create-inbox.ts';
import { lockOf } from './lock-of.ts';
import { writeStep } from './write-step.ts';

/** `Store.commit` on PostgreSQL: one transaction, refused where the lane it is called for was lost (Q8, Q9). */
export function createCommit({ database, jobs, leases, announce, clock }: Backing): Store['commit'] {
  return async (step: Step) => {
    const parts = new Set(step.outbox?.map(({ conversation }) => conversationKey(conversation)));
    const work = new Set(step.work?.map(({ lane }) => lane));
    // Who holds the lane goes on with it; for anybody else its job has to be called.
    const freed =
      step.done === undefined || leases.active() ? undefined : await laneOf(database.query, step.done);
    const inbox = freed === undefined ? work : new Set([...work, freed]);
    if (parts.size === 0 && inbox.size === 0) return writeStep(leases, database.query, step, clock.now());

    await jobs.prepare('outbox', parts);
    await jobs.prepare('inbox', inbox);
    const locks = [
      ...Array.from(parts, (lane) => lockOf('outbox', lane)),
      ...Array.from(inbox, (lane) => lockOf('inbox', lane)),
    ];
    await database.transaction({ outlives: 'disk', locks }, async (query) => {
      await writeStep(leases, query, step, clock.now());
      await addWork(query, step.work ?? [], clock.now());
      await jobs.offer(query, 'outbox', due(parts));
      await jobs.offer(query, 'inbox', due(work));
      if (freed !== undefined) await jobs.hasten(query, 'inbox', freed);
    });
    if (parts.size > 0) announce('outbox');
    if (inbox.size > 0) announce('inbox');
  };
}

function due(lanes: Iterable<string>): readonly Readonly<{ lane: string; inMs: number }>[] {
  return Array.from(lanes, (lane) => ({ lane, inMs: 0 }));
}
