import { conversationKey } from '../../core/conversation.ts';
import type { Step, Store } from '../store.ts';
import { addWork } from './accept-messages.ts';
import type { Backing } from './backing.ts';
import { finish, laneOf } from './create-inbox.ts';
import { addParts } from './create-outbox.ts';
import { appendEntries } from './create-transcripts.ts';
import { addUses } from './create-usage.ts';
import { lockOf } from './lock-of.ts';

/** `Store.commit` on PostgreSQL: one transaction, refused where the lane it is called for was lost (Q8, Q9). */
export function createCommit({ database, jobs, leases, announce, clock }: Backing): Store['commit'] {
  return async ({ entries = [], outbox = [], work = [], usage = [], done }: Step) => {
    const parts = new Set(outbox.map(({ conversation }) => conversationKey(conversation)));
    const lanes = new Set(work.map(({ lane }) => lane));
    // Who holds the lane goes on with it; for anybody else its job has to be called.
    const freed = done === undefined || leases.active() ? undefined : await laneOf(database.query, done);
    if (parts.size > 0) await jobs.prepare('outbox', parts);
    if (lanes.size > 0 || freed !== undefined)
      await jobs.prepare('inbox', freed === undefined ? lanes : [...lanes, freed]);
    const locks = [
      ...[...parts].map((lane) => lockOf('outbox', lane)),
      ...[...lanes].map((lane) => lockOf('inbox', lane)),
      ...(freed === undefined ? [] : [lockOf('inbox', freed)]),
    ];

    await database.transaction({ outlives: 'disk', locks }, async (query) => {
      await leases.fence(query);
      if (entries.length > 0) await appendEntries(query, entries);
      if (outbox.length > 0) {
        await addParts(query, outbox);
        await jobs.offer(query, 'outbox', now(parts));
      }
      if (work.length > 0) {
        await addWork(query, work, clock.now());
        await jobs.offer(query, 'inbox', now(lanes));
      }
      if (usage.length > 0) await addUses(query, usage);
      if (done !== undefined) await finish(query, done, clock.now());
      if (freed !== undefined) await jobs.hasten(query, 'inbox', freed);
    });
    if (parts.size > 0) announce('outbox');
    if (lanes.size > 0 || freed !== undefined) announce('inbox');
  };
}

function now(lanes: Iterable<string>): readonly Readonly<{ lane: string; inMs: number }>[] {
  return Array.from(lanes, (lane) => ({ lane, inMs: 0 }));
}
