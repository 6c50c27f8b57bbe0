import type { Meter } from '../../core/meter.ts';
import type { Accepted } from '../../store/inbox.ts';
import type { Store } from '../../store/store.ts';
import type { StoreHealth } from './store-health.ts';

type Health = Pick<StoreHealth, 'met' | 'patient'>;

const outcomes = {
  stored: 'accepted',
  merged: 'merged',
  duplicate: 'duplicate',
  lane_full: 'lane_full',
} as const satisfies Readonly<Record<Accepted, string>>;

/**
 * The store, watched: what work needs, its beginning included, waits while the database can't be used (Q11); what
 * arrives, and what an operator asks, is refused with the database's own error. What happens is counted (L4).
 */
export function watchStore(store: Store, health: Health, meter: Meter): Store {
  const { inbox, outbox, transcripts, overheard } = store;
  const { patient } = health;
  const repeatable = { repeatable: true };

  async function watched<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      health.met(error);
      throw error;
    }
  }

  return {
    ...store,
    inbox: {
      ...inbox,
      async accept(message, options) {
        const accepted = await watched(() => inbox.accept(message, options));
        meter.count('messages', { outcome: outcomes[accepted] });
        return accepted;
      },
      replace: (message) => watched(() => inbox.replace(message)),
      take: (lane, now) => patient(() => inbox.take(lane, now)),
      takeAlong: (key, now) => patient(() => inbox.takeAlong(key, now)),
      async fail(key, error, retryAt) {
        const tries = await patient(() => inbox.fail(key, error, retryAt), repeatable);
        meter.count('failed_tries', {});
        if (retryAt === undefined) meter.count('set_aside', {});
        return tries;
      },
      postpone: (key, error, retryAt) => patient(() => inbox.postpone(key, error, retryAt), repeatable),
    },
    outbox: {
      ...outbox,
      next: (lane, now) => patient(() => outbox.next(lane, now), repeatable),
      sending: (key) => patient(() => outbox.sending(key), repeatable),
      async sent(key, receipt) {
        await patient(() => outbox.sent(key, receipt), repeatable);
        meter.count('sends', { outcome: 'sent' });
      },
      async retry(key, error, at) {
        await patient(() => outbox.retry(key, error, at), repeatable);
        meter.count('sends', { outcome: 'retried' });
      },
      async dead(key, error) {
        await patient(() => outbox.dead(key, error), repeatable);
        meter.count('sends', { outcome: 'given_up' });
      },
      async repeated(key) {
        await patient(() => outbox.repeated(key), repeatable);
        meter.count('sends', { outcome: 'repeated' });
      },
      show: (key, receipt) => patient(() => outbox.show(key, receipt), repeatable),
      shown: (key) => patient(() => outbox.shown(key), repeatable),
      receipt: (key) => patient(() => outbox.receipt(key), repeatable),
    },
    transcripts: {
      ...transcripts,
      current: (conversation) => patient(() => transcripts.current(conversation), repeatable),
      read: (id) => patient(() => transcripts.read(id), repeatable),
      archive: (conversation) => patient(() => transcripts.archive(conversation)),
    },
    overheard: {
      add: (message, now) => watched(() => overheard.add(message, now)),
      remove: (id) => watched(() => overheard.remove(id)),
      recent: (conversation, limit, since) =>
        patient(() => overheard.recent(conversation, limit, since), repeatable),
    },
    async commit(step) {
      await patient(() => store.commit(step));
      if (step.done !== undefined && (step.outbox?.length ?? 0) > 0) meter.count('answers', {});
    },
    addWork: (work, refuse) => patient(() => store.addWork(work, refuse)),
    prune: (now, retentionMs) => watched(() => store.prune(now, retentionMs)),
  };
}
