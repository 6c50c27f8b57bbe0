import type { Meter } from '../../core/meter.ts';
import { aroundStore, same } from '../../store/around-store.ts';
import type { Accepted } from '../../store/inbox.ts';
import type { Store } from '../../store/store.ts';
import type { StoreHealth } from './store-health.ts';

type Method<Args extends readonly unknown[], Result> = (...args: Args) => Promise<Result>;

const outcomes = {
  stored: 'accepted',
  merged: 'merged',
  duplicate: 'duplicate',
  lane_full: 'lane_full',
} as const satisfies Readonly<Record<Accepted, string>>;

/** Work waits for an outage to end; arrivals and operators get its error (Q11, L4). */
export function watchStore(store: Store, health: Pick<StoreHealth, 'met' | 'patient'>, meter: Meter): Store {
  const refuse =
    <Args extends readonly unknown[], Result>(method: Method<Args, Result>): Method<Args, Result> =>
    async (...args) => {
      try {
        return await method(...args);
      } catch (error) {
        health.met(error);
        throw error;
      }
    };
  const wait =
    <Args extends readonly unknown[], Result>(method: Method<Args, Result>): Method<Args, Result> =>
    (...args) =>
      health.patient(() => method(...args));
  /** Also if it may have been carried out. */
  const repeat =
    <Args extends readonly unknown[], Result>(method: Method<Args, Result>): Method<Args, Result> =>
    (...args) =>
      health.patient(() => method(...args), { repeatable: true });
  const counted =
    (outcome: 'sent' | 'retried' | 'given_up' | 'repeated') =>
    <Args extends readonly unknown[]>(method: Method<Args, void>): Method<Args, void> => {
      const call = repeat(method);
      return async (...args) => {
        await call(...args);
        meter.count('sends', { outcome });
      };
    };

  return aroundStore(store, {
    inbox: {
      accept: (method) => async (message, options) => {
        const accepted = await refuse(method)(message, options);
        meter.count('messages', { outcome: outcomes[accepted] });
        return accepted;
      },
      replace: refuse,
      take: wait,
      takeAlong: wait,
      begun: refuse,
      fail: (method) => async (key, error, retryAt) => {
        const tries = await repeat(method)(key, error, retryAt);
        meter.count('failed_tries', {});
        if (retryAt === undefined) meter.count('set_aside', {});
        return tries;
      },
      postpone: repeat,
      untake: repeat,
      ...same('serve', 'list', 'waitingIn', 'behind', 'beside', 'retry', 'drop'),
    },
    outbox: {
      next: repeat,
      sending: repeat,
      sent: counted('sent'),
      retry: counted('retried'),
      dead: counted('given_up'),
      repeated: counted('repeated'),
      show: repeat,
      shown: repeat,
      receipt: repeat,
      ...same('serve', 'givenUp', 'revive', 'pending'),
    },
    transcripts: { current: repeat, read: repeat, archive: wait, ...same('answered') },
    overheard: { add: refuse, remove: refuse, recent: repeat },
    asks: same('find', 'open', 'waiting', 'add', 'answer', 'expire', 'takeUnshown'),
    capabilities: {
      ...same('claimKey', 'keyCheck', 'accounts', 'removeAccount', 'begin', 'flow', 'flows', 'flowsSince'),
      ...same(
        'change',
        'link',
        'endFlows',
        'takeDue',
        'holdOn',
        'nextDue',
        'outcome',
        'keepOutcome',
        'forget',
      ),
    },
    routines: {
      due: repeat,
      nextDue: repeat,
      settle: repeat,
      ...same('add', 'find', 'of', 'within', 'all', 'change', 'skip', 'remove', 'removeOf'),
    },
    fire: refuse,
    files: (method) => () => {
      const files = method();
      if (files === undefined) return undefined;
      const { versions, read, write, missing, put, get, size, touch } = files;
      const waiting = {
        versions: repeat(versions),
        read: repeat(read),
        write: repeat(write),
        get: repeat(get),
      };
      const sent = { missing: repeat(missing), put: repeat(put), size: repeat(size), touch: repeat(touch) };
      return { ...files, ...waiting, ...sent };
    },
    memories: {
      add: wait,
      remove: wait,
      of: repeat,
      search: repeat,
      ...same('find', 'by', 'counts', 'used', 'seen'),
    },
    signals: same('send', 'on'),
    commit: (method) => async (step) => {
      await health.patient(() => method(step));
      if (step.done !== undefined && (step.outbox?.length ?? 0) > 0) meter.count('answers', {});
    },
    addWork: wait,
    prune: refuse,
    ...same('stop', 'keyed', 'usage', 'lead', 'reserve', 'countUse', 'forget', 'backup', 'backlog', 'check'),
    ...same('close'),
  });
}
