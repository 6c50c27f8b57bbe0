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
  queue_full: 'queue_full',
} as const satisfies Readonly<Record<Accepted, string>>;

/**
 * Wraps the store for outages: work waits until one ends, while arrivals and operators get its error (Q11, L4). A call
 * that only these two make, or that both make, is refused. An item of the inbox that fails by this is retried, and the
 * try does not count.
 */
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
  /** Repeats a call after an outage, even if it may have been carried out before. */
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

  const accounts = {
    keyCheck: repeat,
    accounts: repeat,
    flow: repeat,
    flows: repeat,
    flowsSince: repeat,
    nextDue: repeat,
    outcome: repeat,
    claimKey: wait,
    removeAccount: wait,
    changeAccount: wait,
    begin: wait,
    change: wait,
    link: wait,
    endFlows: wait,
    takeDue: wait,
    holdOn: wait,
    keepOutcome: wait,
    forget: refuse,
  } as const;

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
      waitingIn: repeat,
      behind: repeat,
      beside: repeat,
      list: refuse,
      retry: refuse,
      drop: refuse,
      // `startWorker` looks again by itself.
      ...same('startWorker'),
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
      sentAs: refuse,
      pending: repeat,
      givenUp: refuse,
      revive: refuse,
      ...same('startWorker'),
    },
    transcripts: { current: repeat, read: repeat, archive: wait, answered: refuse, turnsSince: refuse },
    groupContext: { add: refuse, remove: refuse, recent: repeat },
    pendingRequests: {
      find: repeat,
      open: repeat,
      add: repeat,
      answer: wait,
      // The ids that these return are told to people once.
      expire: wait,
      takeUnshown: wait,
      waiting: refuse,
    },
    capabilities: accounts,
    serverAccounts: accounts,
    routines: {
      due: repeat,
      nextDue: repeat,
      settle: repeat,
      find: repeat,
      of: repeat,
      within: repeat,
      all: repeat,
      add: wait,
      change: wait,
      skip: wait,
      remove: wait,
      removeOf: refuse,
    },
    feedback: { give: refuse, explain: refuse, find: repeat, list: refuse },
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
      find: repeat,
      by: repeat,
      counts: repeat,
      used: repeat,
      seen: repeat,
    },
    signals: { send: repeat, ...same('on') },
    commit: (method) => async (step) => {
      await health.patient(() => method(step));
      if (step.done !== undefined && (step.outbox?.length ?? 0) > 0) meter.count('answers', {});
    },
    addWork: wait,
    prune: refuse,
    // Carried out later, it would stop what was said after it.
    stop: refuse,
    // A hook that waits would keep its sender waiting, too.
    countUse: refuse,
    usage: refuse,
    usedBetween: refuse,
    stats: refuse,
    reserve: refuse,
    forget: refuse,
    person: refuse,
    placesNaming: refuse,
    backup: refuse,
    backlog: refuse,
    // Use `patientKeyed` where values must not be lost. Most values are settings, which arrivals read as well.
    ...same('keyed'),
    // `check` is how an outage is noticed, and `lead` asks again by itself.
    ...same('check', 'lead', 'close'),
  });
}
